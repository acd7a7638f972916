import { expect, test } from 'vitest';
import { baseText, firstTokens, planLinks, planNodes, planWarnings } from './plan';
import type { PlannedTicket, TrackPlan } from './types';

const planned = (id: string, more: Partial<PlannedTicket> = {}): PlannedTicket => ({ id, title: id, tier: 3, depends_on: [], depth: 0, models: ['a/one'], tokens: 100, check: 'make', cap: {}, ...more });
const plan = (tickets: PlannedTicket[], more: Partial<TrackPlan> = {}): TrackPlan => ({ title: 'A plan', isolate: true, concurrency: 3, tickets, ...more });
const keys = (one: TrackPlan) => planWarnings(one).map(({ key }) => key);

test('links are those between tickets of the plan', () => {
  expect(planLinks(plan([planned('a'), planned('b', { depends_on: ['a', 'gone', 'b'] })]))).toEqual([{ from: 'a', to: 'b', added: false }]);
  expect(planNodes(plan([planned('a')]))).toEqual([{ id: 'a', title: 'a', state: 'ready' }]);
});

test('a sound plan warns of nothing', () => expect(keys(plan([planned('a')]))).toEqual([]));

test('what a person should know before a start', () => {
  expect(keys(plan([]))).toEqual(['empty']);
  expect(keys(plan([planned('a')], { isolate: false }))).toEqual(['isolate']);
  expect(keys(plan([planned('a')], { base: { commit: 'c0ffee', uncommitted: 2 } }))).toEqual(['uncommitted']);
  expect(keys(plan([planned('a', { check: null, models: [] })]))).toEqual(['check', 'models']);
});

test('a persona that cannot be loaded is named once, with the tickets that miss it', () => {
  const fell_back = [{ persona: 'zoe', reason: 'there is none' }];
  const found = planWarnings(plan([planned('a', { fell_back: [...fell_back, ...fell_back] }), planned('b', { fell_back })]));
  expect(found.map(({ text }) => text)).toEqual(['The persona zoe cannot be loaded (there is none); the defaults take over for a, b.']);
});

test('a plan names the commit that it starts from', () => {
  const base = { commit: '0123456789abcdef', uncommitted: 0 };
  expect(baseText(plan([]))).toBeUndefined();
  expect(baseText(plan([], { base }))).toBe('0123456789');
  expect(baseText(plan([], { base: { ...base, branch: 'main' } }))).toBe('main at 0123456789');
});

test('tokens of the first prompts have the files of the project', () => {
  expect(firstTokens(plan([planned('a'), planned('b', { context: { files: 2, left_out: 0, tokens: 50, budget: 1000 } })]))).toBe(250);
});
