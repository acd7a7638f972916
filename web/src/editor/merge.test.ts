import { expect, test } from 'vitest';
import { canJoin, merge, settle } from './merge';

test('disjoint fields merge', () => {
  const base = { prompt: 'a', tone: 'x', unknown: { kept: 1 } };
  const merged = merge(base, { ...base, prompt: 'b' }, { ...base, tone: 'y', added: 1 });
  expect(merged).toEqual({ doc: { prompt: 'b', tone: 'y', added: 1, unknown: { kept: 1 } }, taken: ['added', 'tone'], conflicts: [] });
});

test('a field that both changed is a conflict, and mine stays until it is settled', () => {
  const { doc, conflicts } = merge({ prompt: 'a' }, { prompt: 'mine' }, { prompt: 'theirs' });
  expect(doc).toEqual({ prompt: 'mine' });
  expect(conflicts).toEqual([{ field: 'prompt', base: 'a', mine: 'mine', theirs: 'theirs' }]);
  expect(settle(doc, conflicts[0]!, 'theirs')).toEqual({ prompt: 'theirs' });
  expect(settle(doc, conflicts[0]!, 'both')).toEqual({ prompt: 'mine\n\ntheirs' });
});

test('the same change on both sides is no conflict', () => {
  expect(merge({ a: 1 }, { a: 2 }, { a: 2 })).toEqual({ doc: { a: 2 }, taken: [], conflicts: [] });
});

test('a field that they cleared is cleared, and mine wins nothing by being untouched', () => {
  expect(merge({ a: 'x', b: 'y' }, { a: 'x', b: 'z' }, { b: 'y' }).doc).toEqual({ b: 'z' });
});

test('empty and missing are the same', () => {
  expect(merge({ tags: [] }, {}, { tags: [] })).toEqual({ doc: {}, taken: [], conflicts: [] });
});

test.each([
  [['a'], ['a', 'b'], ['a', 'c'], ['a', 'b', 'c']],
  [['a', 'b'], ['b'], ['a', 'b', 'c'], ['b', 'c']],
  [['a', 'b'], ['a'], ['b'], []],
])('lists of names merge item by item: %j + %j + %j', (base, mine, theirs, both) => {
  expect(merge({ traits: base }, { traits: mine }, { traits: theirs }).doc.traits ?? []).toEqual(both);
});

test('parts merge by name; both sides changing one part is a conflict', () => {
  const part = (name: string, priority: number) => ({ name, priority });
  const base = { parts: [part('a', 1), part('b', 1)] };
  const mine = { parts: [part('a', 9), part('b', 1)] };
  expect(merge(base, mine, { parts: [part('a', 1), part('b', 5)] }).doc.parts).toEqual([part('a', 9), part('b', 5)]);
  expect(merge(base, mine, { parts: [part('a', 7), part('b', 1)] }).conflicts).toHaveLength(1);
  expect(merge(base, mine, { parts: [part('b', 1)] }).conflicts).toHaveLength(1);
});

test('both is offered for prose and lists, not for words', () => {
  const conflict = (mine: unknown, theirs: unknown) => ({ field: 'x', base: '', mine, theirs });
  expect(canJoin(conflict('one\ntwo', 'three'))).toBe(true);
  expect(canJoin(conflict(['a'], ['b']))).toBe(true);
  expect(canJoin(conflict('replace', 'append'))).toBe(false);
});
