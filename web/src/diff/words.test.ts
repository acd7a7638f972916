import { expect, test } from 'vitest';
import { diffWords } from './words';

const side = (pieces: ReturnType<typeof diffWords>, other: string) =>
  pieces.filter((piece) => piece.kind !== other).map((piece) => piece.text).join('');
const print = (a: string, b: string) =>
  diffWords(a, b).map(({ kind, text }) => (kind === 'same' ? text : kind === 'added' ? `[+${text}]` : `[-${text}]`)).join('');

test('marks words, not letters', () => {
  expect(print('Read the whole diff.', 'Read the diff twice.')).toBe('Read the [-whole ]diff[+ twice].');
  expect(print('', 'new')).toBe('[+new]');
  expect(print('same', 'same')).toBe('same');
});

test('both sides can be read out of it, whatever the texts', () => {
  let seed = 7;
  const random = (n: number) => ((seed = (seed * 1103515245 + 12345) % 2 ** 31), seed % n);
  for (let round = 0; round < 300; round += 1) {
    const text = () => Array.from({ length: random(30) }, () => ['a', 'b', ' ', '\n', 'ü.', '{{x}}', 'word'][random(7)]).join('');
    const [a, b] = [text(), text()];
    const pieces = diffWords(a, b);
    expect(side(pieces, 'added')).toBe(a);
    expect(side(pieces, 'removed')).toBe(b);
  }
});

test('a huge rewrite is one replacement, quickly', () => {
  const long = (word: string) => Array.from({ length: 20_000 }, (_, at) => `${word}${at}`).join(' ');
  const pieces = diffWords(long('a'), long('b'));
  expect(side(pieces, 'removed')).toBe(long('b'));
});
