import { stints } from './board';
import type { Spent, TicketBoard, TrackBoard } from './types';

/** What a number is made of, pure: a track's sum by ticket, a ticket's by session. */

export interface SpentRow {
  ticket: TicketBoard;
  spent: Spent;
  /** Of the track's tokens, from 0 to 1. */
  share: number;
}

/** The tickets that spent something, the most first. */
export function spentByTicket(board: TrackBoard): SpentRow[] {
  const all = board.spent.tokens;
  return board.tickets
    .filter(({ spent }) => spent.tokens > 0)
    .map((ticket) => ({ ticket, spent: ticket.spent, share: all === 0 ? 0 : ticket.spent.tokens / all }))
    .toSorted((a, b) => b.spent.tokens - a.spent.tokens);
}

/** What the track spent and no ticket did. */
export function besideTickets(board: TrackBoard): number {
  return Math.max(0, board.spent.tokens - board.tickets.reduce((sum, { spent }) => sum + spent.tokens, 0));
}

export interface SessionUse {
  session: string;
  /** Such as `Attempts 1 and 2`: attempts may go on in one session. */
  label: string;
  who: string;
  model: string;
}

export function sessionsOf(ticket: TicketBoard): SessionUse[] {
  const found = new Map<string, { kinds: Map<string, number[]>; who: string; model: string }>();
  for (const stint of stints(ticket)) {
    const one = found.get(stint.session) ?? { kinds: new Map<string, number[]>(), who: stint.persona ?? 'without a persona', model: stint.model };
    one.kinds.set(stint.kind, [...(one.kinds.get(stint.kind) ?? []), stint.number]);
    found.set(stint.session, one);
  }
  return [...found].map(([session, { kinds, who, model }]) => ({ session, who, model, label: [...kinds].map(([kind, numbers]) => named(kind, numbers)).join(', ') }));
}

function named(kind: string, numbers: readonly number[]): string {
  const word = kind === 'attempt' ? 'Attempt' : 'Review';
  if (numbers.length === 1) return `${word} ${numbers[0]}`;
  return `${word}s ${numbers.slice(0, -1).join(', ')} and ${numbers.at(-1)}`;
}
