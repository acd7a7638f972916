import { describe, expect, test } from 'vitest';
import { behind, filtered, grouped, heard, isMet, links, mayCancel, mayRetry, modelsTried, orderedTracks, running, stints, tally, toneOf, trackGroup, waiting } from './board';
import { attempt, board, round, ticket } from './sample';
import type { Approval, State, TicketBoard, TicketNeed, TrackItem } from './types';

const need = (id: string, more: object = { need: 'decision' }): TicketNeed => ({ ticket: id, sentence: 'has tried everything', ...more }) as TicketNeed;
const approval: Approval = { session: 's', call_id: 'c', tool_name: 'run_command', input: {}, asked_at: '' };
const ids = (tickets: readonly TicketBoard[]) => tickets.map(({ id }) => id).join(' ');

describe('the tone of a ticket', () => {
  test.each<[State, string]>([
    ['draft', 'todo'], ['awaiting_approval', 'todo'], ['ready', 'todo'], ['blocked', 'blocked'], ['setup', 'active'], ['working', 'active'], ['needs_input', 'you'],
    ['checking', 'active'], ['queued', 'active'], ['merged', 'done'], ['no_change', 'done'], ['failed', 'failed'], ['cancelled', 'failed'],
  ])('%s is %s', (state, tone) => expect(toneOf(ticket('a', state))).toBe(tone));

  test('what needs the reader comes before its state', () => {
    expect(toneOf(ticket('a', 'blocked', { need: need('a') }))).toBe('you');
    expect(toneOf(ticket('a', 'working', { approvals: [approval] }))).toBe('you');
    expect(toneOf(ticket('a', 'working', { approvals: [] }))).toBe('active');
  });
});

describe('what waits for the reader', () => {
  const all = board([
    ticket('plan-1', 'awaiting_approval', { need: need('plan-1', { need: 'plan' }) }),
    ticket('stuck', 'needs_input', { need: need('stuck') }),
    ticket('plan-2', 'awaiting_approval', { need: need('plan-2', { need: 'plan' }) }),
    ticket('found', 'draft', { need: need('found', { need: 'plan' }) }),
    ticket('asks', 'working', { approvals: [approval] }),
  ]);

  test('calls of tools come first, and plans are one question however many tickets they have', () => {
    expect(waiting(all).map((one) => [one.kind, 'tickets' in one ? one.tickets.join(' ') : one.ticket])).toEqual([
      ['ask', 'asks'], ['need', 'stuck'], ['planned', 'plan-1 plan-2'], ['drafts', 'found'],
    ]);
  });

  test('keys differ, so that a card is made anew for another need', () => {
    const keys = waiting(all).map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(waiting(board([ticket('a', 'needs_input', { need: need('a', { need: 'answer', question: '?' }) })]))[0]?.key).not.toBe(waiting(board([ticket('a', 'needs_input', { need: need('a') })]))[0]?.key);
  });

  test('nothing waits on a quiet board', () => expect(waiting(board([ticket('a', 'merged')]))).toEqual([]));
});

describe('links', () => {
  const tickets = [
    ticket('a', 'merged'),
    ticket('b', 'blocked', { depends_on: ['a', 'gone'] }),
    ticket('b-1', 'ready', { origin: { origin: 'split', of: 'b' } }),
    ticket('a-resolve', 'ready', { origin: { origin: 'resolver', of: 'a', with: [], paths: [] } }),
    ticket('c', 'blocked', { depends_on: ['b'] }),
    ticket('d', 'merged', { depends_on: ['b'] }),
  ];

  test('go from what comes first to what waits; parts and resolvers came on the way; unknown ones are left out', () => {
    expect(links(tickets)).toEqual([
      { from: 'a', to: 'b', added: false },
      { from: 'b-1', to: 'b', added: true },
      { from: 'a-resolve', to: 'a', added: true },
      { from: 'b', to: 'c', added: false },
      { from: 'b', to: 'd', added: false },
    ]);
  });

  test('behind a ticket are those that are not at an end, through any number of others', () => {
    expect(ids(behind(tickets, 'b-1'))).toBe('b c');
    expect(ids(behind(tickets, 'a'))).toBe('b c');
    expect(behind(tickets, 'c')).toEqual([]);
  });

  test('a circle ends', () => {
    const circle = [ticket('x', 'blocked', { depends_on: ['y'] }), ticket('y', 'blocked', { depends_on: ['x'] })];
    expect(ids(behind(circle, 'x'))).toBe('y');
  });
});

describe('what may be done', () => {
  test.each<[string, TicketBoard, boolean, boolean]>([
    ['working', ticket('a', 'working'), true, true],
    ['failed', ticket('a', 'failed'), true, true],
    ['cancelled', ticket('a', 'cancelled'), true, false],
    ['merged', ticket('a', 'merged'), false, false],
    ['ready', ticket('a', 'ready'), false, true],
    ['blocked by a dependency', ticket('a', 'blocked', { depends_on: ['b'], waits_for: ['b'] }), false, true],
    ['blocked by its parts', ticket('a', 'blocked', { waits_for: ['a-1'] }), true, true],
    ['blocked by its setup', ticket('a', 'blocked', { need: need('a', { need: 'setup', message: 'x' }) }), true, true],
  ])('%s', (_, one, retry, cancel) => expect([mayRetry(one), mayCancel(one)]).toEqual([retry, cancel]));
});

test('models are listed where they changed', () => {
  const one = ticket('a', 'failed', { attempts: [attempt(1, 0, 1), attempt(2, 1, 2), attempt(3, 2, 3, { model: 'a/two' }), attempt(4, 3, 4)] });
  expect(modelsTried(one)).toEqual(['a/one', 'a/two', 'a/one']);
});

test('attempts and reviews are in the order of their beginning', () => {
  const one = ticket('a', 'merged', { attempts: [attempt(1, 0, 5), attempt(2, 9, 12)], rounds: [round(1, 5, 9), round(2, 12, 13)] });
  expect(stints(one).map(({ kind, number }) => `${kind} ${number}`)).toEqual(['attempt 1', 'review 1', 'attempt 2', 'review 2']);
});

test('a place is held by what a step works on, not by what waits to be merged', () => {
  expect(ids(running(board([ticket('a', 'working'), ticket('b', 'queued'), ticket('c', 'reviewing'), ticket('d', 'ready')])))).toBe('a c');
});

describe('the list', () => {
  const tickets = [
    ticket('T1', 'merged', { persona: 'zoe' }),
    ticket('T2', 'working', { persona: 'ada', tier: 2, model: 'p/large' }),
    ticket('T3', 'needs_input', { need: need('T3') }),
    ticket('T4', 'blocked', { title: 'The last one' }),
  ];

  test('by state, what needs the reader is first and what is done is last', () => {
    expect(grouped(tickets, 'state').map(({ heading, tickets: some }) => `${heading}: ${ids(some)}`)).toEqual(['Needs you: T3', 'Running: T2', 'Blocked: T4', 'Done: T1']);
  });

  test('by tier and by persona', () => {
    expect(grouped(tickets, 'tier').map(({ key, tickets: some }) => `${key}: ${ids(some)}`)).toEqual(['2: T2', '3: T1 T3 T4']);
    expect(grouped(tickets, 'persona').map(({ heading }) => heading)).toEqual(['Nobody yet', 'ada', 'zoe']);
  });

  test('filters by tone and by words of id, title, persona and model', () => {
    expect(ids(filtered(tickets, { tones: ['active', 'done'], text: '' }))).toBe('T1 T2');
    expect(ids(filtered(tickets, { tones: [], text: 'LAST one' }))).toBe('T4');
    expect(ids(filtered(tickets, { tones: [], text: 'large' }))).toBe('T2');
    expect(filtered(tickets, { tones: ['failed'], text: '' })).toEqual([]);
  });

  test('counts add up', () => {
    const found = tally(tickets);
    expect(found.map(({ tone }) => tone)).toEqual(['you', 'active', 'blocked', 'done']);
    expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(tickets.length);
  });
});

describe('an event', () => {
  const before = board([ticket('a', 'ready'), ticket('b', 'blocked')], { seq: 7 });

  test('moves its ticket and nothing else', () => {
    const after = heard(before, { type: 'ticket', ticket: 'a', state: 'working', short_state: 'in_progress' });
    expect(after.tickets.map(({ state }) => state)).toEqual(['working', 'blocked']);
    expect(after.tickets[1]).toBe(before.tickets[1]);
  });

  test('that says nothing new leaves the board as it is', () => {
    expect(heard(before, { type: 'ticket', ticket: 'a', state: 'ready', short_state: 'todo' })).toBe(before);
    expect(heard(before, { type: 'ticket', ticket: 'zz', state: 'ready', short_state: 'todo' })).toBe(before);
    expect(heard(before, { type: 'track', phase: 'paused', seq: 6 })).toBe(before);
  });

  test('moves the track on', () => {
    expect(heard(before, { type: 'track', phase: 'finished', seq: 8 })).toMatchObject({ phase: 'finished', seq: 8 });
  });
});

describe('the list of tracks', () => {
  const item = (id: string, phase: TrackItem['phase'], day: number): TrackItem => ({ id, title: `Track ${id}`, project: '/p', phase, created_at: '', updated_at: `2026-01-0${day}` });
  const items = [item('done', 'finished', 9), item('runs', 'running', 1), item('fresh', 'new', 8), item('waits', 'waiting', 2), item('asks', 'running', 3)];
  const needs = new Map([['asks', 2], ['runs', 0]]);

  test('those that need the reader come first, ended ones last', () => {
    expect(orderedTracks(items, '', needs).map(({ id }) => id)).toEqual(['asks', 'waits', 'runs', 'fresh', 'done']);
    expect(items.map((one) => trackGroup(one, needs))).toEqual(['over', 'open', 'open', 'you', 'you']);
  });

  test('words filter', () => expect(orderedTracks(items, 'track FRESH', needs).map(({ id }) => id)).toEqual(['fresh']));
});

test('only merged and unneeded tickets satisfy a dependency', () => {
  expect((['merged', 'no_change', 'failed', 'cancelled', 'working'] as const).map(isMet)).toEqual([true, true, false, false, false]);
});
