import { expect, test } from 'vitest';
import { GUARD_MS, isArmed } from './guard';

test('a yes counts only after the question was on the screen for a while', () => {
  expect(isArmed(undefined, 10_000)).toBe(false);
  expect(isArmed(10_000, 10_000)).toBe(false);
  expect(isArmed(10_000, 10_000 + GUARD_MS - 1)).toBe(false);
  expect(isArmed(10_000, 10_000 + GUARD_MS)).toBe(true);
});
