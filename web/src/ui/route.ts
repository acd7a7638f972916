/** Routing, pure: which place an address names. The address is the state of the page, so everything
 * that a reload, a shared link or the back button must bring back is in its path or its query. */

export type Query = Record<string, string | string[]>;

export interface Route {
  /** The name of the matching pattern, or `missing`. */
  place: string;
  params: Record<string, string>;
  query: URLSearchParams;
}

export interface Pattern {
  place: string;
  /** Segments; `:name` is a parameter. */
  path: string;
}

export function matchPath(patterns: readonly Pattern[], url: URL): Route {
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  for (const { place, path } of patterns) {
    const params = matchSegments(path.split('/').filter(Boolean), segments);
    if (params) return { place, params, query: url.searchParams };
  }
  return { place: 'missing', params: {}, query: url.searchParams };
}

function matchSegments(pattern: string[], segments: string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) {
    const segment = segments[at] ?? '';
    if (!part.startsWith(':')) {
      if (part !== segment) return undefined;
      continue;
    }
    try {
      params[part.slice(1)] = decodeURIComponent(segment);
    } catch {
      return undefined;
    }
  }
  return params;
}

/** The address of a place. Empty query values are left out, so that equal states have equal addresses. */
export function href(path: string, query: Record<string, string | string[] | number | boolean | null | undefined> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '' || value === false) continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** A path segment for a name that a person chose. */
export function segment(name: string): string {
  return encodeURIComponent(name);
}

/** The same address with some query values replaced; `null` takes one out. */
export function withQuery(url: URL, changes: Record<string, string | string[] | null>): string {
  const next = new URL(url);
  for (const [name, value] of Object.entries(changes)) {
    next.searchParams.delete(name);
    if (value === null || value === '') continue;
    for (const one of Array.isArray(value) ? value : [value]) next.searchParams.append(name, one);
  }
  return next.pathname + next.search;
}

export function personaPath(name: string): string {
  return `/personas/${segment(name)}`;
}

/** Where an entity is edited: personas have the large editor, pieces a page of their own. */
export function entityPath(kind: string, name: string): string {
  return kind === 'persona' ? personaPath(name) : `/library/${kind}/${segment(name)}`;
}
