import { expect, test } from 'vitest';
import { categoriesOf, categoryRows, pairRows, pairsOf } from './rows';

test('categories go to rows and back, with fields that the form does not show', () => {
  const categories = { read: [{ name: 'read_file', weight: 4, parameter_bias: { path: 'src' } }], write: [{ name: 'edit_file', approval: 'ask' }] };
  expect(categoriesOf(categoryRows(categories))).toEqual(categories);
  expect(categoryRows({ read: ['read_file'] })).toEqual([{ category: 'read', name: 'read_file' }]);
  expect(categoryRows(undefined)).toEqual([]);
});

test('pairs go to rows and back', () => {
  expect(pairsOf(pairRows({ read: 2, write: 0.5 }))).toEqual({ read: 2, write: 0.5 });
});
