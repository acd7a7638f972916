import { expect, test } from 'vitest';
import { capOf, capOfNeed, deedText, deedsOf, parseLimit } from './needs';
import type { Need } from './types';

const NEEDS: Need['need'][] = ['answer', 'approval', 'plan', 'step', 'cap', 'price', 'unblock', 'setup', 'baseline', 'decision'];

test.each(NEEDS)('%s: something can be done, and the ticket can always be given up', (need) => {
  const deeds = deedsOf({ need });
  expect(deeds.length).toBeGreaterThan(1);
  expect(deeds.at(-1)).toBe('cancel');
  expect(deeds.filter((deed) => deedText(deed, { need }) === '')).toEqual([]);
});

test('the first deed is what usually helps', () => {
  expect(NEEDS.map((need) => deedsOf({ need })[0])).toEqual(['answer', 'accept', 'approve', 'approve_step', 'cap', 'uncap', 'answer', 'retry', 'retry', 'retry']);
});

test('a need of a newer server can be retried', () => {
  expect(deedsOf({ need: 'telepathy' as Need['need'] })).toEqual(['retry', 'cancel']);
});

test('a red base is not accepted as a result', () => {
  expect(deedText('accept', { need: 'baseline' })).not.toBe(deedText('accept', { need: 'approval' }));
});

test('accounts', () => {
  expect(capOf({ account: 'ticket', ticket: 'T1' })).toEqual({ ticket: 'T1' });
  expect(capOf({ account: 'track' })).toBe('track');
  expect(capOf({ account: 'day', day: '2026-01-01' })).toBe('day');
});

test('a model without a price is stopped by the nearest cap in money', () => {
  const need: Need = { need: 'price', model: 'a/one' };
  expect(capOfNeed(need, { id: 'T1', cap: { cost: 1 } }, { cost: 2 })).toEqual({ ticket: 'T1' });
  expect(capOfNeed(need, { id: 'T1', cap: { tokens: 1 } }, { cost: 2 })).toBe('track');
  expect(capOfNeed(need, { id: 'T1', cap: {} }, {})).toBe('day');
  expect(capOfNeed({ need: 'cap', account: { account: 'day', day: '2026-01-01' }, unit: 'cost' }, { id: 'T1', cap: { cost: 1 } }, {})).toBe('day');
});

test.each<[string, boolean, number | null | undefined]>([
  ['', true, null],
  ['  ', false, null],
  ['5000', true, 5000],
  ['1,000,000', true, 1_000_000],
  ['10 000', true, 10_000],
  ['2.5', true, undefined],
  ['2.5', false, 2.5],
  ['-1', false, undefined],
  ['many', true, undefined],
  ['0', true, 0],
])('the limit %j (whole: %j) is %j', (text, whole, limit) => expect(parseLimit(text, whole)).toBe(limit));
