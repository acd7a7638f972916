import { expect, test } from 'vitest';
import { cutsOf, fieldsAsked, isCurrent, verbOf, type Definition, type Proposal } from './proposals';

const change = (more: Partial<Definition>): Definition => ({
  kind: 'part', name: 'calm', scope: 'shared', ifRevision: 1, isCurrent: true, before: {}, after: {}, fields: [], beforeToml: '', afterToml: '', ...more,
});
const proposal = (...changes: Partial<Definition>[]): Proposal => ({ id: 'p', message: 'Shorter.', changes: changes.map(change) });
const field = (name: string, from: unknown, to: unknown) => ({ field: name, from, to });

test('one entity that changed since makes the whole proposal stale', () => {
  expect(isCurrent(proposal({}, {}))).toBe(true);
  expect(isCurrent(proposal({}, { isCurrent: false }))).toBe(false);
});

test('names the texts that lose more than half, by characters', () => {
  const fields = [field('content', 'é'.repeat(300), 'é'.repeat(100)), field('summary', 'abcd', 'ab'), field('greetings', ['abcd', 'efgh'], ['ab'])];
  expect(cutsOf(proposal({ fields })).map(({ field, before, after }) => [field, before, after])).toEqual([['content', 300, 100], ['greetings', 8, 2]]);
});

test('a text that goes away is cut to nothing', () => {
  expect(cutsOf(proposal({ fields: [field('content', 'long', undefined)] }))).toMatchObject([{ after: 0 }]);
});

test('knows which fields of an entity wait', () => {
  const questions = [proposal({ fields: [field('content', 'a', '')] }), proposal({ name: 'other', fields: [field('summary', 'a', '')] })];
  expect([...fieldsAsked(questions, 'part', 'calm')]).toEqual(['content']);
});

test('says what becomes of an entity', () => {
  expect([change({ before: null }), change({}), change({ after: null })].map(verbOf)).toEqual(['creates', 'changes', 'deletes']);
});
