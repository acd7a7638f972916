import type { Kind, ListItem, Scope } from '../api/client';
import { isKind, SCOPES } from '../ui/kinds';
import type { Route } from '../ui/route';

export type Sort = 'name' | 'edited';

/** What the library shows, as its address says. */
export interface Filter {
  kind: Kind;
  text: string;
  scope: Scope | undefined;
  tags: string[];
  problems: boolean;
  sort: Sort;
}

export function filterOf(route: Route): Filter {
  const { params, query } = route;
  const scope = SCOPES.find((one) => one === query.get('scope'));
  return {
    kind: isKind(params.kind) ? params.kind : 'persona',
    text: query.get('q') ?? '',
    scope,
    tags: query.getAll('tag'),
    problems: query.get('problems') === '1',
    sort: query.get('sort') === 'edited' ? 'edited' : 'name',
  };
}

/** True if the filter hides anything, so that an empty list offers *Clear*. */
export function isFiltered(filter: Filter): boolean {
  return filter.text !== '' || filter.scope !== undefined || filter.tags.length > 0 || filter.problems;
}

/** The server sorts by name, or by rank where words are searched; the last edit is sorted here. */
export function sorted(items: readonly ListItem[], sort: Sort): readonly ListItem[] {
  if (sort === 'name') return items;
  return items.toSorted((a, b) => (b.updated_at ?? '').localeCompare(a.updated_at ?? '') || a.name.localeCompare(b.name));
}

export function keyOf(item: { kind: string; scope: string; name: string }): string {
  return `${item.scope}:${item.name}`;
}

/** The keys from the last picked item to this one, in the order of the list; shift-click picks them. */
export function range(items: readonly ListItem[], from: string | undefined, to: string): string[] {
  const keys = items.map(keyOf);
  const a = from === undefined ? -1 : keys.indexOf(from);
  const b = keys.indexOf(to);
  if (a < 0 || b < 0) return [to];
  return keys.slice(Math.min(a, b), Math.max(a, b) + 1);
}
