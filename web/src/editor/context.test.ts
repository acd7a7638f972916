import { expect, test } from 'vitest';
import { budgetOf, leftOutGroups, noteText, patternsOf, reasonText, strategyOf, sumText, wantsFiles, whyText, type Files } from './context';

test('a persona shows files if it has a preset or a strategy', () => {
  expect(wantsFiles({ preset: undefined, strategy: undefined })).toBe(false);
  expect(wantsFiles({ preset: 'docs', strategy: undefined })).toBe(true);
  expect(wantsFiles({ preset: undefined, strategy: 'auto' })).toBe(true);
});

test.each([['', undefined], [null, undefined], ['8000', 8000], ['8,000', 8000], ['0', undefined], ['-5', undefined], ['1.5', undefined], ['99999999999', undefined], ['many', undefined]])('the budget %j is %j', (text, budget) => expect(budgetOf(text)).toBe(budget));

test('strategies', () => {
  expect(strategyOf('skeleton')).toBe('skeleton');
  expect(strategyOf('magic')).toBeUndefined();
  expect(strategyOf(undefined)).toBeUndefined();
});

test('why a file is shown', () => {
  expect(whyText({ why: 'entry', entry: 1 }, ['*.md', 'src/**'])).toBe('entry 2: src/**');
  expect(whyText({ why: 'entry', entry: 4 })).toBe('entry 5 of the preset');
  expect(whyText({ why: 'imported', by: 'main.rs' })).toBe('imported by main.rs');
  expect(whyText({ why: 'ranked', place: 1200 })).toBe('place 1,200 in the ranking');
});

test('notes name their entry as people count', () => {
  expect(noteText({ note: 'no_match', entry: 0, pattern: '*.zig' })).toBe('Entry 1, *.zig, selects no file.');
  expect(noteText({ note: 'focus_left_out', path: 'a.bin', reason: { reason: 'binary' } })).toBe('a.bin is not shown: it is binary.');
  expect(noteText({ note: 'summaries_missing', files: 1 })).toMatch(/^1 file without a summary yet/);
});

test('what is left out, the largest group first', () => {
  const groups = leftOutGroups([
    { path: 'a', reason: { reason: 'binary' } },
    { path: 'b', reason: { reason: 'budget' } },
    { path: 'c', reason: { reason: 'budget' } },
    { path: 'd', reason: { reason: 'huge', bytes: 5 } },
    { path: 'e', reason: { reason: 'huge', bytes: 6 } },
  ]);
  expect(groups.map(({ reason, paths }) => [reason, paths.join(' ')])).toEqual([['budget', 'b c'], ['huge', 'd e'], ['binary', 'a']]);
  expect(groups[0]?.text).toBe(reasonText({ reason: 'budget' }));
});

test('the sum', () => {
  const files: Files = { text: '', tokens: 8412, budget: 16_000, files: [], left_out: [], notes: [] };
  expect(sumText(files)).toBe('0 files, 8,412 of 16,000 tokens');
});

test('patterns of entries, whatever they are', () => {
  expect(patternsOf([{ glob: '*.md', view: 'full' }, { path: 'a.rs' }, {}, null])).toEqual(['*.md', 'a.rs', '', '']);
  expect(patternsOf(undefined)).toEqual([]);
});
