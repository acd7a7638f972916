import { expect, test } from 'vitest';
import { fold, reference, type Revision } from './fold';

const at = (minute: number, more: Partial<Revision> = {}): Revision => ({
  revision: minute, action: 'changed', author: 'ann', front: 'http', name: 'a',
  created_at: new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString(), ...more,
});
const sizes = (revisions: Revision[]) => fold(revisions).map((row) => row.items.length);

test('saves of one author within half an hour fold', () => {
  expect(sizes([at(50), at(40), at(25), at(10)])).toEqual([3, 1]);
});

test('another author, another front, a tag and a creation stand alone', () => {
  expect(sizes([at(5), at(4, { author: 'bob' }), at(3)])).toEqual([1, 1, 1]);
  expect(sizes([at(5), at(4, { front: 'mcp' })])).toEqual([1, 1]);
  expect(sizes([at(5), at(4, { tags: ['production'] }), at(3)])).toEqual([1, 1, 1]);
  expect(sizes([at(5), at(4, { action: 'created' })])).toEqual([1, 1]);
});

test('all changes of one turn of the agent fold, two turns do not', () => {
  const turn = (minute: number, message: string, action = 'updated') => at(minute, { front: 'editor', message, action });
  expect(sizes([turn(5, 'drier'), turn(4, 'drier', 'link'), turn(4, 'drier', 'created'), turn(3, 'rename it')])).toEqual([3, 1]);
  expect(fold([turn(5, 'drier'), at(4)]).map(({ agent }) => agent)).toEqual([true, false]);
});

test('a revision of an earlier entity has a reference of its own', () => {
  expect(reference(at(3))).toBe('3');
  expect(reference(at(3, { ask_for: '0192:3' }))).toBe('0192:3');
});
