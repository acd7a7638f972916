import { TIERS } from './words';
import type { Approval, AttemptBoard, Phase, RoundBoard, State, TicketBoard, TicketNeed, TrackBoard, TrackEvent, TrackItem } from './types';

/** A track's board, pure: what needs the reader, who waits for whom, how the list is cut. */

/** The few colours of seventeen states: what they mean to a reader. */
export type Tone = 'done' | 'failed' | 'you' | 'active' | 'blocked' | 'todo';

const TONES: Record<State, Tone> = {
  draft: 'you',
  awaiting_approval: 'you',
  needs_input: 'you',
  blocked: 'blocked',
  ready: 'todo',
  setup: 'active',
  working: 'active',
  submitted: 'active',
  checking: 'active',
  reviewing: 'active',
  rework: 'active',
  queued: 'active',
  integrating: 'active',
  merged: 'done',
  no_change: 'done',
  failed: 'failed',
  cancelled: 'failed',
};

export function toneOf(ticket: Pick<TicketBoard, 'state' | 'need' | 'approvals'>): Tone {
  if (ticket.need || (ticket.approvals ?? []).length > 0) return 'you';
  // A track whose steps are approved one by one, or a draft, waits for a person by its need alone.
  const tone = TONES[ticket.state];
  return tone === 'you' && ticket.state !== 'needs_input' ? 'todo' : tone;
}

export const isOver = (phase: Phase): boolean => phase === 'finished' || phase === 'cancelled';
export const isMet = (state: State): boolean => state === 'merged' || state === 'no_change';
export const isFinal = (state: State): boolean => isMet(state) || state === 'failed' || state === 'cancelled';

/** The tickets that hold one of the track's places: a step works on them. */
export function running(board: TrackBoard): TicketBoard[] {
  return board.tickets.filter((ticket) => toneOf(ticket) === 'active' && ticket.state !== 'queued');
}

/** What waits for the reader. Planned tickets and drafts are each one question, however many there are. */
export type Waiting =
  | { kind: 'ask'; key: string; ticket: string; approval: Approval }
  | { kind: 'need'; key: string; ticket: string; need: TicketNeed }
  | { kind: 'planned' | 'drafts'; key: string; tickets: string[] };

/** A worker that asks holds a place, so calls of tools come first; then needs, in the server's order. */
export function waiting(board: TrackBoard): Waiting[] {
  const asks = board.tickets.flatMap(({ id, approvals }): Waiting[] =>
    (approvals ?? []).map((approval) => ({ kind: 'ask', key: `${id}:${approval.call_id}`, ticket: id, approval })),
  );
  const drafts = new Set(board.tickets.filter(({ state }) => state === 'draft').map(({ id }) => id));
  const planned = board.needs.filter(({ need }) => need === 'plan').map(({ ticket }) => ticket);
  const needs = board.needs
    .filter(({ need }) => need !== 'plan')
    .map((need): Waiting => ({ kind: 'need', key: `${need.ticket}:${need.need}`, ticket: need.ticket, need }));
  const group = (kind: 'planned' | 'drafts', tickets: string[]): Waiting[] => (tickets.length === 0 ? [] : [{ kind, key: kind, tickets }]);
  return [
    ...asks,
    ...needs,
    ...group('planned', planned.filter((id) => !drafts.has(id))),
    ...group('drafts', planned.filter((id) => drafts.has(id))),
  ];
}

/** The tickets that a ticket waits for by the plan: its dependencies, and parts or resolvers of it. */
export function links(tickets: readonly TicketBoard[]): { from: string; to: string; added: boolean }[] {
  const known = new Set(tickets.map(({ id }) => id));
  const found = tickets.flatMap((ticket) => {
    const deps = ticket.depends_on.map((from) => ({ from, to: ticket.id, added: false }));
    const { origin } = ticket;
    if (origin.origin === 'split' || origin.origin === 'resolver') return [...deps, { from: ticket.id, to: origin.of, added: true }];
    return deps;
  });
  return found.filter(({ from, to }) => known.has(from) && known.has(to) && from !== to);
}

/** Every ticket that waits behind this one, the nearest first. */
export function behind(tickets: readonly TicketBoard[], id: string): TicketBoard[] {
  const after = new Map<string, string[]>();
  for (const { from, to } of links(tickets)) after.set(from, [...(after.get(from) ?? []), to]);
  const seen = new Set([id]);
  const queue = [id];
  for (let at = 0; at < queue.length; at += 1) {
    for (const next of after.get(queue[at] ?? '') ?? []) {
      if (!seen.has(next)) (seen.add(next), queue.push(next));
    }
  }
  const byId = new Map(tickets.map((ticket) => [ticket.id, ticket]));
  return queue.slice(1).flatMap((one) => byId.get(one) ?? []).filter(({ state }) => !isFinal(state));
}

/** True if another chance makes sense to the server: something was tried, or waits for a person. */
export function mayRetry(ticket: TicketBoard): boolean {
  if (ticket.state === 'blocked') return ticket.need != null || (ticket.waits_for ?? []).some((id) => !ticket.depends_on.includes(id));
  return !['draft', 'awaiting_approval', 'ready', 'setup', 'integrating', 'merged', 'no_change'].includes(ticket.state);
}

export function mayCancel({ state }: Pick<TicketBoard, 'state'>): boolean {
  return !['merged', 'no_change', 'cancelled'].includes(state);
}

/** The models of a ticket's attempts where they changed: each after the first is an escalation, or a person's choice. */
export function modelsTried(ticket: TicketBoard): string[] {
  const models = (ticket.attempts ?? []).map(({ model }) => model);
  return models.filter((model, at) => model !== models[at - 1]);
}

/** An attempt or a round of review, in the order of their beginning. */
export type Stint = ({ kind: 'attempt' } & AttemptBoard) | ({ kind: 'review' } & RoundBoard);

export function stints(ticket: TicketBoard): Stint[] {
  const attempts: Stint[] = (ticket.attempts ?? []).map((one) => ({ kind: 'attempt', ...one }));
  const rounds: Stint[] = (ticket.rounds ?? []).map((one) => ({ kind: 'review', ...one }));
  return [...attempts, ...rounds].toSorted((a, b) => a.began_at.localeCompare(b.began_at));
}

export const GROUPINGS = ['state', 'tier', 'persona'] as const;
export type Grouping = (typeof GROUPINGS)[number];

const TONE_ORDER: Tone[] = ['you', 'active', 'blocked', 'failed', 'todo', 'done'];
const TONE_HEADINGS: Record<Tone, string> = { you: 'Needs you', active: 'Running', blocked: 'Blocked', failed: 'Failed', todo: 'To do', done: 'Done' };

export interface Group {
  key: string;
  heading: string;
  tickets: TicketBoard[];
}

/** Groups in a fixed order, tickets in the order of the track. */
export function grouped(tickets: readonly TicketBoard[], grouping: Grouping): Group[] {
  const groups = new Map<string, Group>();
  for (const ticket of tickets) {
    const { key, heading } = groupOf(ticket, grouping);
    const group = groups.get(key) ?? { key, heading, tickets: [] };
    group.tickets.push(ticket);
    groups.set(key, group);
  }
  const rank = ({ key }: Group) => (grouping === 'state' ? TONE_ORDER.indexOf(key as Tone) : 0);
  return [...groups.values()].toSorted((a, b) => rank(a) - rank(b) || a.key.localeCompare(b.key));
}

function groupOf(ticket: TicketBoard, grouping: Grouping): { key: string; heading: string } {
  if (grouping === 'tier') return { key: String(ticket.tier), heading: TIERS[ticket.tier] ?? `Tier ${ticket.tier}` };
  if (grouping === 'persona') return { key: ticket.persona ?? '', heading: ticket.persona ?? 'Nobody yet' };
  const tone = toneOf(ticket);
  return { key: tone, heading: TONE_HEADINGS[tone] };
}

export interface TicketFilter {
  /** Tones. Empty: all. */
  tones: readonly string[];
  text: string;
}

export function filtered(tickets: readonly TicketBoard[], { tones, text }: TicketFilter): TicketBoard[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return tickets.filter((ticket) => {
    if (tones.length > 0 && !tones.includes(toneOf(ticket))) return false;
    const hay = `${ticket.id} ${ticket.title} ${ticket.persona ?? ''} ${ticket.model ?? ''}`.toLowerCase();
    return words.every((word) => hay.includes(word));
  });
}

export interface Counted {
  tone: Tone;
  heading: string;
  count: number;
}

/** How many tickets each tone has, without the empty ones. */
export function tally(tickets: readonly TicketBoard[]): Counted[] {
  return TONE_ORDER.map((tone) => ({ tone, heading: TONE_HEADINGS[tone], count: tickets.filter((ticket) => toneOf(ticket) === tone).length })).filter(({ count }) => count > 0);
}

/** The board after an event. What an event does not carry comes with the next reading of the board. */
export function heard(board: TrackBoard, event: TrackEvent): TrackBoard {
  if (event.type === 'track') return event.seq < board.seq ? board : { ...board, phase: event.phase, seq: event.seq };
  if (event.type !== 'ticket') return board;
  const at = board.tickets.findIndex(({ id }) => id === event.ticket);
  const known = board.tickets[at];
  if (!known || known.state === event.state) return board;
  return { ...board, tickets: board.tickets.with(at, { ...known, state: event.state, short_state: event.short_state }) };
}

const PHASE_RANK: Record<Phase, number> = { waiting: 0, paused: 1, running: 2, new: 3, finished: 4, cancelled: 4 };

/** Those that need the reader first, then those that run, each the last changed first. `needs` has the number of
 * needs of a track whose board is known. */
export function orderedTracks(items: readonly TrackItem[], query: string, needs: ReadonlyMap<string, number>): TrackItem[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = (item: TrackItem) => ((needs.get(item.id) ?? 0) > 0 ? 0 : PHASE_RANK[item.phase]);
  return items
    .filter((item) => words.every((word) => `${item.title} ${item.project} ${item.id}`.toLowerCase().includes(word)))
    .toSorted((a, b) => rank(a) - rank(b) || b.updated_at.localeCompare(a.updated_at));
}

export type TrackGroup = 'you' | 'open' | 'over';

export function trackGroup(item: TrackItem, needs: ReadonlyMap<string, number>): TrackGroup {
  if ((needs.get(item.id) ?? 0) > 0 || item.phase === 'waiting') return 'you';
  return isOver(item.phase) ? 'over' : 'open';
}
