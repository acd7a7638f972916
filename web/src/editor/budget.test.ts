import { expect, test } from 'vitest';
import { sayStep, stepAt, stepsOf } from './budget';

const points = [
  { max_tokens: 900, tokens: 880, left_out: ['part:backstory-x', 'part:tone-y'] },
  { max_tokens: 1270, tokens: 1265, left_out: ['part:backstory-x'] },
];
const steps = stepsOf(1482, points);

test('the first step has no limit; the others go down', () => {
  expect(steps.map((step) => step.maxTokens)).toEqual([undefined, 1270, 900]);
  expect(stepsOf(10, [])).toHaveLength(1);
});

test('a budget means the largest step that fits', () => {
  expect([undefined, 5000, 1270, 1269, 900, 100].map((budget) => stepAt(steps, budget))).toEqual([0, 1, 1, 2, 2, 2]);
});

test('says what dropped at this step', () => {
  expect(sayStep(steps, 0)).toBe('no limit, nothing left out');
  expect(sayStep(steps, 1)).toBe('backstory-x left out, 1,265 of 1,270');
  expect(sayStep(steps, 2)).toBe('tone-y left out (2 in all), 880 of 900');
});
