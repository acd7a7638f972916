import { expect, test } from 'vitest';
import { changedBlocks, cutPlaceholders, placeholderProblems, reuseBlocks, tokensText, type Block } from './preview';

const block = (id: string, text: string, first_line = 1): Block => ({
  id, text, first_line, hash: text, heading: null, kind: 'part', name: id, field: 'content', layer: 'own', scope: 'shared', form: 'whole', tokens: 1,
});

test('unchanged blocks are the same objects', () => {
  const before = [block('a', 'x'), block('b', 'y')];
  const after = reuseBlocks(before, [block('a', 'x'), block('b', 'z'), block('c', 'w')]);
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
  expect(reuseBlocks(before, [block('a', 'x', 5)])[0]).not.toBe(before[0]);
});

test('names the blocks that changed or are new', () => {
  expect(changedBlocks([block('a', 'x'), block('b', 'y')], [block('a', 'x', 9), block('b', 'z'), block('c', 'w')])).toEqual(['b', 'c']);
});

test('placeholders are cut out, and nothing is lost', () => {
  const text = 'Name {{ticket}} and {{ user.name }}; not {x} or {{}}.';
  const pieces = cutPlaceholders(text);
  expect(pieces.filter((piece) => piece.placeholder).map((piece) => piece.text)).toEqual(['{{ticket}}', '{{ user.name }}']);
  expect(pieces.map((piece) => piece.text).join('')).toBe(text);
});

test('says whether the count is exact', () => {
  expect(tokensText({ total: 1482, counter: 'o200k_base', exact: false })).toBe('≈ 1,482 · o200k_base');
  expect(tokensText({ total: 1482, counter: 'o200k_base', exact: true })).toBe('1,482 · exact');
});

test('a placeholder that stays in the text is a problem of its place, once', () => {
  const prompt = { ...block('persona:x', 'For {{team}}, and {{ team }} again.'), kind: 'persona' as const, field: 'system_prompt' };
  expect(placeholderProblems([prompt, block('a', 'Ask {{who}}.'), block('b', 'Nothing.')])).toMatchObject([
    { message: 'nothing fills in {{team}}', field: 'system_prompt' },
    { message: 'nothing fills in {{who}}', kind: 'part', name: 'a' },
  ]);
});
