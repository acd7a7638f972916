import { describe, expect, test } from 'vitest';
import { age, between, capText, checkText, costText, duration, money, ofCap, originText, proofText, share, shellText, short, tokens } from './words';

test.each([[0, '0.00'], [0.0042, '0.004200'], [0.01, '0.01'], [12.345, '12.35']])('money %d is %s', (amount, text) => expect(money(amount)).toBe(text));
test.each([[0, '0'], [9_999, '9,999'], [48_200, '48.2k'], [3_100_000, '3.1M']])('%d tokens are %s', (number, text) => expect(tokens(number)).toBe(text));

test.each([
  [-5, '0 s'], [48_000, '48 s'], [60_000, '1 min'], [12 * 60_000, '12 min'], [3 * 3_600_000, '3 h'], [3 * 3_600_000 + 20 * 60_000, '3 h 20 min'], [48 * 3_600_000, '2 d'], [52 * 3_600_000, '2 d 4 h'],
])('%d ms last %s', (ms, text) => expect(duration(ms)).toBe(text));

test('times between moments, and since them', () => {
  const now = Date.parse('2026-01-01T00:01:00Z');
  expect(between('2026-01-01T00:00:00Z', null, now)).toBe('1 min');
  expect(between('2026-01-01T00:00:00Z', '2026-01-01T00:00:05Z', now)).toBe('5 s');
  expect(age('2026-01-01T00:00:00Z', now)).toBe('1 min ago');
  expect(age(null, now)).toBe('none yet');
});

describe('costs', () => {
  test('an unknown price is said to be unknown', () => {
    expect(costText({ tokens: 10, cost: 0.5 })).toBe('cost 0.50');
    expect(costText({ tokens: 10, cost: 0, unpriced_tokens: 10 })).toBe('cost unknown: no price');
    expect(costText({ tokens: 10, cost: 0.5, unpriced_tokens: 4 })).toBe('cost 0.50, and 4 tokens without a price');
    expect(costText({ tokens: 0, cost: 0 })).toBe('cost 0.00');
  });

  test('caps', () => {
    expect(capText({})).toBe('no cap');
    expect(capText({ tokens: 5000, cost: 2 })).toBe('5,000 tokens, cost 2.00');
    expect([ofCap({}), ofCap({ tokens: 5 })]).toEqual(['no cap', 'of 5 tokens']);
  });

  test('the share is that of the cap that is nearer', () => {
    expect(share({ tokens: 10, cost: 1 }, {})).toBeUndefined();
    expect(share({ tokens: 10, cost: 1 }, { tokens: 100, cost: 2 })).toBe(0.5);
    expect(share({ tokens: 300, cost: 0 }, { tokens: 100 })).toBe(1);
    expect(share({ tokens: 0, cost: 0 }, { tokens: 0 })).toBe(1);
  });
});

test('how a check ended', () => {
  const run = { command: 'make', timed_out: false, seconds: 1 };
  expect(checkText({ ...run, exit_code: 0 })).toBe('green');
  expect(checkText({ ...run, exit_code: 2 })).toBe('red, exit code 2');
  expect(checkText({ ...run, exit_code: null })).toBe('red, was killed');
  expect(checkText({ ...run, exit_code: 0, timed_out: true })).toBe('ran out of time');
});

test('where a ticket came from', () => {
  expect(originText({ origin: 'track' })).toBe('');
  expect(originText({ origin: 'split', of: 'T1' })).toBe('a part of T1');
  expect(originText({ origin: 'resolver', of: 'T1', with: ['T2', 'T3'], paths: [] })).toBe('resolves the conflict of T1 with T2, T3');
});

test('proofs', () => {
  expect(proofText(undefined)).toBe('');
  expect([proofText({ kind: 'check', command: 'make' }), proofText({ kind: 'test', name: 't' }), proofText({ kind: 'place', place: 'a:1' })]).toEqual(['make', 't', 'a:1']);
});

test('a command as a shell takes it', () => {
  expect(shellText(['git', 'merge', '--ff-only', 'masque/a-b/integration'])).toBe('git merge --ff-only masque/a-b/integration');
  expect(shellText(['echo', "it's", 'a b', ''])).toBe(`echo 'it'\\''s' 'a b' ''`);
});

test('a commit in short', () => expect(short('0123456789abcdef')).toBe('0123456789'));
