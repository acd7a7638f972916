import { expect, test } from 'vitest';
import { href, matchPath, withQuery, type Pattern } from './route';

const patterns: Pattern[] = [
  { place: 'library', path: '/' },
  { place: 'library', path: '/library/:kind' },
  { place: 'piece', path: '/library/:kind/:name' },
  { place: 'history', path: '/personas/:name/history' },
];
const at = (path: string) => matchPath(patterns, new URL(path, 'http://masque'));

test('finds the place and its parameters', () => {
  expect(at('/')).toMatchObject({ place: 'library', params: {} });
  expect(at('/library/part')).toMatchObject({ place: 'library', params: { kind: 'part' } });
  expect(at('/library/part/')).toMatchObject({ place: 'library', params: { kind: 'part' } });
  expect(at('/personas/code_reviewer/history?from=3')).toMatchObject({ place: 'history', params: { name: 'code_reviewer' } });
  expect(at('/personas/code_reviewer/history?from=3').query.get('from')).toBe('3');
});

test('an unknown or malformed path is missing, never an exception', () => {
  expect(at('/nowhere/at/all').place).toBe('missing');
  expect(at('/library/part/%E0%A4%A').place).toBe('missing');
});

test('names are decoded once', () => {
  expect(at('/library/part/a%2Fb').params.name).toBe('a/b');
});

test('addresses leave out what is not set', () => {
  expect(href('/library/part', { q: '', scope: undefined, tag: ['a', 'b c'], problems: false })).toBe('/library/part?tag=a&tag=b+c');
  expect(href('/')).toBe('/');
});

test('a query value is replaced, and null takes it out', () => {
  const url = new URL('http://masque/library/part?q=x&tag=a&tag=b');
  expect(withQuery(url, { tag: null })).toBe('/library/part?q=x');
  expect(withQuery(url, { q: 'y', tag: ['c'] })).toBe('/library/part?q=y&tag=c');
});
