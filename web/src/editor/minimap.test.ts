import { expect, test } from 'vitest';
import { countUnseen, sayUnseen, stillUnseen } from './minimap';

const ORDER = ['a', 'b', 'c', 'd', 'e'];
const set = (text: string) => new Set(text);

test('a change in view is seen; one out of view waits until it was', () => {
  let unseen = stillUnseen(set(''), set('ad'), set('bc'));
  expect([...unseen]).toEqual(['a', 'd']);
  unseen = stillUnseen(unseen, [], set('cd'));
  expect([...unseen]).toEqual(['a']);
});

test.each([
  ['de', 'bc', '2 changes below', 'd'],
  ['a', 'bc', '1 change above', 'a'],
  ['ae', 'bc', '1 change above, 1 below', 'e'],
])('%s changed, %s in view: %s', (changed, inView, said, next) => {
  const found = countUnseen(ORDER, set(changed), set(inView));
  expect(sayUnseen(found)).toBe(said);
  expect(found.next).toBe(next);
});

test('blocks that are gone do not count', () => {
  expect(countUnseen(ORDER, set('z'), set('a'))).toEqual({ above: 0, below: 0, next: undefined });
});
