import { expect, test } from 'vitest';
import { changedFields, definitionOf, equal, moved, numbered, parts, reasonFor, withField } from './doc';

test('meta is not part of a definition, and unknown fields are', () => {
  const entity = { name: 'a', scope: 'shared', revision: 3, updated_at: 'x', future: { deep: [1] } } as never;
  expect(definitionOf(entity)).toEqual({ name: 'a', future: { deep: [1] } });
});

test('equal does not mind order of keys or empty fields', () => {
  expect(equal({ a: 1, b: '' }, { a: 1 })).toBe(true);
  expect(equal({ a: [{ x: 1, y: 2 }] }, { a: [{ y: 2, x: 1 }] })).toBe(true);
  expect(equal([1, 2], [2, 1])).toBe(false);
  expect(equal(0, '')).toBe(false);
});

test('names the fields that changed', () => {
  expect(changedFields({ a: 1, b: 2, revision: 1 }, { b: 3, c: [], revision: 2 })).toEqual(['a', 'b']);
});

test('clearing a field takes it out', () => {
  expect(withField({ a: 'x', b: 1 }, 'a', '')).toEqual({ b: 1 });
  expect(withField({ b: 1 }, 'b', 0)).toEqual({ b: 0 });
});

test('parts are read from names and tables, in order', () => {
  expect(parts({ parts: ['z', { name: 'a', order: 0 }, { name: 'm', order: -1, priority: 5 }] }).map((part) => part.name)).toEqual(['m', 'a', 'z']);
});

test('moves go by step, to the ends and to a position, and stop at the ends', () => {
  const list = ['a', 'b', 'c', 'd'];
  expect(moved(list, 1, 'up')).toEqual({ list: ['b', 'a', 'c', 'd'], at: 0 });
  expect(moved(list, 1, 'last')).toEqual({ list: ['a', 'c', 'd', 'b'], at: 3 });
  expect(moved(list, 3, 1)).toEqual({ list: ['a', 'd', 'b', 'c'], at: 1 });
  expect(moved(list, 0, 'up')).toEqual({ list, at: 0 });
});

test('numbers are kept while they rise', () => {
  const part = (name: string, order: number) => ({ name, order, priority: 0 });
  expect(numbered([part('a', 3), part('b', 7)]).map((one) => one.order)).toEqual([3, 7]);
  expect(numbered([part('b', 7), part('a', 3)]).map((one) => one.order)).toEqual([10, 20]);
});

test('the reason names the changed fields', () => {
  expect(reasonFor({}, { system_prompt: 'x', tags: ['a'] })).toBe('edited system prompt and tags');
  expect(reasonFor({ a: 1 }, { a: 1 })).toBe('');
  expect(reasonFor({}, { a: 1, b: 1, c: 1, d: 1, e: 1 })).toBe('edited a, b, c and 2 more');
});
