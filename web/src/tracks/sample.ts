import type { AttemptBoard, RoundBoard, State, TicketBoard, TrackBoard } from './types';

/** Boards for tests. */

const NOTHING = { tokens: 0, cost: 0 };

export function ticket(id: string, state: State = 'ready', more: Partial<TicketBoard> = {}): TicketBoard {
  return { id, title: `Do ${id}`, tier: 3, origin: { origin: 'track' }, depends_on: [], state, short_state: 'todo', spent: NOTHING, cap: {}, ...more };
}

export function attempt(number: number, from: number, to: number | undefined, more: Partial<AttemptBoard> = {}): AttemptBoard {
  return { number, session: `s${number}`, persona: 'code_worker', model: 'a/one', began_at: at(from), ended_at: to === undefined ? null : at(to), ...more };
}

export function round(number: number, from: number, to: number | undefined, more: Partial<RoundBoard> = {}): RoundBoard {
  return { number, session: `r${number}`, persona: 'qa_reviewer', model: 'a/two', began_at: at(from), ended_at: to === undefined ? null : at(to), ...more };
}

export function board(tickets: TicketBoard[], more: Partial<TrackBoard> = {}): TrackBoard {
  const needs = tickets.flatMap(({ need }) => need ?? []);
  return {
    id: 'track', title: 'A track', project: '/p', phase: 'running', is_newer: false, is_worked_here: true, concurrency: 3, counts: {},
    spent: NOTHING, cap: {}, spent_today: NOTHING, day_cap: {}, seq: 1, needs, tickets, ...more,
  };
}

/** Seconds after the beginning of a day. */
export function at(seconds: number): string {
  return new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
}
