import { expect, test } from 'vitest';
import { inherited, inheritedNames, inheritedParts, splitBase, type Base } from './inherit';

const base = (name: string, doc: Base['doc']): Base => ({ name, scope: 'builtin', doc });
const bases = [
  base('near', { summary: 'near', traits: ['c'], remove_traits: ['a'], parts: [{ name: 'p3' }], remove_parts: ['p1'] }),
  base('root', { summary: 'root', detail: 'root', traits: ['a', 'b'], parts: ['p1', { name: 'p2' }] }),
];

test('the nearest base that sets a field counts', () => {
  expect(inherited(bases, 'summary')).toMatchObject({ value: 'near', from: 'near' });
  expect(inherited(bases, 'detail')).toMatchObject({ value: 'root', from: 'root' });
  expect(inherited(bases, 'author')).toBeUndefined();
});

test('names add up from the root, minus what a base removes', () => {
  expect(inheritedNames(bases, 'traits').map((one) => `${one.value} ${one.from}`)).toEqual(['b root', 'c near']);
  expect(inheritedParts(bases).map((one) => one.value)).toEqual(['p2', 'p3']);
});

test('a base may name its scope', () => {
  expect(splitBase('global:coder')).toEqual({ scope: 'global', name: 'coder' });
  expect(splitBase('coder')).toEqual({ name: 'coder' });
});
