import { expect, test } from 'vitest';
import { fieldsOf } from './locks';

test('a lock holds all that a control edits', () => {
  expect(fieldsOf('persona', 'system_prompt')).toEqual(['system_prompt', 'system_prompt_mode']);
  expect(fieldsOf('persona', 'traits')).toEqual(['traits', 'remove_traits']);
  expect(fieldsOf('persona', 'summary')).toEqual(['summary']);
});

test('pieces have no bases', () => {
  expect(fieldsOf('part', 'tags')).toEqual(['tags']);
});
