import { expect, test } from 'vitest';
import { attempt, board, round, ticket } from './sample';
import { besideTickets, sessionsOf, spentByTicket } from './spent';

const spent = (tokens: number) => ({ spent: { tokens, cost: 0 } });

test('the tickets of a sum, the most first, without those that spent nothing', () => {
  const all = board([ticket('a', 'ready', spent(10)), ticket('b', 'ready', spent(30)), ticket('c')], spent(50));
  expect(spentByTicket(all).map(({ ticket: { id }, share }) => [id, share])).toEqual([['b', 0.6], ['a', 0.2]]);
  expect(besideTickets(all)).toBe(10);
  expect(besideTickets(board([ticket('a', 'ready', spent(10))]))).toBe(0);
});

test('attempts of one session are one row', () => {
  const one = ticket('a', 'merged', { attempts: [attempt(1, 0, 1), attempt(2, 2, 3, { session: 's1' }), attempt(3, 5, 6)], rounds: [round(1, 1, 2)] });
  expect(sessionsOf(one)).toEqual([
    { session: 's1', label: 'Attempts 1 and 2', who: 'code_worker', model: 'a/one' },
    { session: 'r1', label: 'Review 1', who: 'qa_reviewer', model: 'a/two' },
    { session: 's3', label: 'Attempt 3', who: 'code_worker', model: 'a/one' },
  ]);
});
