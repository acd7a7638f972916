import { expect, test } from 'vitest';
import type { ListItem } from '../api/client';
import { filterOf, isFiltered, range, sorted } from './filter';

const filter = (search: string, kind?: string) =>
  filterOf({ place: 'library', params: kind === undefined ? {} : { kind }, query: new URLSearchParams(search) });
const item = (name: string, updated_at?: string): ListItem => ({ kind: 'persona', scope: 'shared', name, updated_at });

test('the address says what is shown; nonsense falls back', () => {
  expect(filter('q=rev&scope=shared&tag=a&tag=b&sort=edited', 'part')).toEqual({
    kind: 'part', text: 'rev', scope: 'shared', tags: ['a', 'b'], problems: false, sort: 'edited',
  });
  expect(filter('scope=moon&sort=size', 'moon')).toMatchObject({ kind: 'persona', scope: undefined, sort: 'name' });
});

test('sorting alone hides nothing', () => {
  expect(isFiltered(filter('sort=edited'))).toBe(false);
  expect(isFiltered(filter('problems=1'))).toBe(true);
});

test('the last edit comes first; entities without one come last, by name', () => {
  const items = [item('b'), item('a'), item('old', '2026-01-01'), item('new', '2026-02-01')];
  expect(sorted(items, 'edited').map((one) => one.name)).toEqual(['new', 'old', 'a', 'b']);
});

test('a range goes both ways, and without a start it is one item', () => {
  const items = ['a', 'b', 'c', 'd'].map((name) => item(name));
  expect(range(items, 'shared:d', 'shared:b')).toEqual(['shared:b', 'shared:c', 'shared:d']);
  expect(range(items, undefined, 'shared:b')).toEqual(['shared:b']);
  expect(range(items, 'shared:gone', 'shared:b')).toEqual(['shared:b']);
});
