import { expect, test } from 'vitest';
import { ordered, waitsFor, type Session } from './order';

const session = (id: string, status: Session['status'], updated: number, more: Partial<Session> = {}): Session => ({
  id, persona: 'mentor', mode: 'build', status, depth: 0, last_seq: 1, created_at: '', updated_at: `2026-01-0${updated}`,
  usage: { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 }, cost: 0, unpriced_calls: 0, ...more,
});
const plan = (status: 'proposed' | 'approved') => ({ content: '', hash: 'h', status, created_at: '' });

const ALL = [
  session('old', 'idle', 1),
  session('asks', 'waiting', 2),
  session('runs', 'running', 9),
  session('planned', 'idle', 3, { plan: plan('proposed') }),
  session('approved', 'idle', 4, { plan: plan('approved'), title: 'Tidy up' }),
  session('delegate', 'waiting', 8, { parent: 'asks' }),
];
const ids = (query = '') => ordered(ALL, query).map(({ id }) => id);

test('what waits for the reader comes first, then what runs, then the last used', () => {
  expect(ids()).toEqual(['planned', 'asks', 'runs', 'approved', 'old']);
});

test('a plan waits until it is decided, and not while the session runs', () => {
  expect(ALL.map(waitsFor)).toEqual([undefined, 'permission', undefined, 'plan', undefined, 'permission']);
  expect(waitsFor(session('x', 'running', 1, { plan: plan('proposed') }))).toBeUndefined();
});

test('words filter by title, persona and id', () => {
  expect(ids('TIDY')).toEqual(['approved']);
  expect(ids('mentor old')).toEqual(['old']);
  expect(ids('nothing')).toEqual([]);
});
