import { expect, test } from 'vitest';
import { windowOf } from './virtual';

test('draws what is visible and a little more', () => {
  expect(windowOf(1000, 40, 4000, 400, 2)).toEqual({ first: 98, end: 112, before: 3920, after: 35_520 });
});

test('the height of the list never depends on the position', () => {
  for (const top of [0, 17, 39_999, 90_000]) {
    const { first, end, before, after } = windowOf(1000, 40, top, 400);
    expect(before + (end - first) * 40 + after).toBe(40_000);
  }
});

test('an empty list and an unmeasured view are fine', () => {
  expect(windowOf(0, 40, 0, 400)).toEqual({ first: 0, end: 0, before: 0, after: 0 });
  expect(windowOf(10, 40, 0, 0)).toMatchObject({ first: 0, end: 4 });
});
