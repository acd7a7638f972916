import { expect, test } from 'vitest';
import { diffLines, diffWords, hunks, type Piece } from './diff';

const MARKS = { same: ' ', out: '-', in: '+' };
const show = (pieces: readonly Piece[]) => pieces.map(({ side, text }) => MARKS[side] + text).join('|');

test.each([
  ['', '', ''],
  ['', 'a\n', '+a'],
  ['a\n', '', '-a'],
  ['a\nb\nc\n', 'a\nx\nc\n', ' a|-b|+x| c'],
  ['a\nb\n', 'a\nb\nc\n', ' a| b|+c'],
  ['a\nb\nc\nd\n', 'b\nd\ne\n', '-a| b|-c| d|+e'],
  ['a', 'a\n', ' a'],
])('%j → %j', (before, after, expected) => expect(show(diffLines(before, after))).toBe(expected));

test('both sides can be read off the diff', () => {
  let seed = 7;
  const random = (limit: number) => (seed = (seed * 48271) % 2147483647) % limit;
  for (let round = 0; round < 200; round += 1) {
    const text = () => Array.from({ length: random(12) }, () => 'abc'[random(3)]).join('\n');
    const [before, after] = [text(), text()];
    const pieces = diffLines(before, after);
    const side = (not: string) => pieces.filter((piece) => piece.side !== not).map((piece) => piece.text).join('\n');
    expect([side('in'), side('out')]).toEqual([before, after].map((one) => one.replace(/\n$/, '')));
  }
});

test('words keep their spaces, and neighbours are joined', () => {
  expect(diffWords('You are kind and brief.', 'You are dry and brief.')).toEqual([
    { side: 'same', text: 'You are ' },
    { side: 'out', text: 'kind ' },
    { side: 'in', text: 'dry ' },
    { side: 'same', text: 'and brief.' },
  ]);
});

test('very different long texts are one replacement, quickly', () => {
  const text = (word: string) => Array.from({ length: 5_000 }, (_, at) => `${word} ${at}`).join('\n');
  const started = performance.now();
  expect(diffLines(text('a'), text('b')).length).toBe(10_000);
  expect(performance.now() - started).toBeLessThan(1_000);
});

test('hunks leave out what is far from a change', () => {
  const before = Array.from({ length: 30 }, (_, at) => `line ${at}`).join('\n');
  const found = hunks(diffLines(before, before.replace('line 10\n', 'ten\n').replace('line 25\n', '')));
  expect(found.hunks.map(({ skipped, pieces }) => [skipped, pieces.length])).toEqual([[7, 8], [8, 7]]);
  expect(found.after).toBe(1);
});
