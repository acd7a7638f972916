import { api, ask, type Entity, type Scope } from '../api/client';
import { definitionOf, isEmpty, names, type Doc } from './doc';

/** A persona that the edited one extends, nearest first. */
export interface Base {
  name: string;
  scope: Scope;
  doc: Doc;
}

export interface Inherited<T = unknown> {
  value: T;
  from: string;
  scope: Scope;
}

const CHAIN_LIMIT = 16;

/** Reads the chain of bases. A name may say its scope: `global:coder`. A missing base ends the chain;
 * the preview names it as a problem. */
export async function loadBases(start: string, signal: AbortSignal): Promise<Base[]> {
  const bases: Base[] = [];
  let next = start;
  while (next !== '' && bases.length < CHAIN_LIMIT) {
    const { scope, name } = splitBase(next);
    if (bases.some((base) => base.name === name && (scope === undefined || base.scope === scope))) break;
    try {
      const params = { path: { kind: 'persona' as const, name }, query: { scope } };
      const entity = (await ask(api.GET('/api/library/{kind}/{name}', { params, signal }))).data as Entity;
      const doc = definitionOf(entity);
      bases.push({ name, scope: entity.scope, doc });
      next = typeof doc.extends === 'string' ? doc.extends : '';
    } catch (error) {
      if (signal.aborted) throw error;
      break;
    }
  }
  return bases;
}

export function splitBase(text: string): { scope?: Scope; name: string } {
  const colon = text.indexOf(':');
  return colon < 0 ? { name: text } : { scope: text.slice(0, colon) as Scope, name: text.slice(colon + 1) };
}

/** The value that a field has without one of its own: the nearest base that sets it. */
export function inherited(bases: readonly Base[], field: string): Inherited | undefined {
  for (const { name, scope, doc } of bases) {
    if (!isEmpty(doc[field])) return { value: doc[field], from: name, scope };
  }
  return undefined;
}

/** Names that come from the bases, in order: each base adds its own and removes some of those before. */
export function inheritedNames(bases: readonly Base[], field: string): Inherited<string>[] {
  let all: Inherited<string>[] = [];
  for (const { name, scope, doc } of bases.toReversed()) {
    const removed = new Set(names(doc, `remove_${field}`));
    all = all.filter((one) => !removed.has(one.value));
    for (const value of names(doc, field)) {
      if (!all.some((one) => one.value === value)) all.push({ value, from: name, scope });
    }
  }
  return all;
}

/** Parts of the bases by name. Which of them stay depends on their types, which the preview shows. */
export function inheritedParts(bases: readonly Base[]): Inherited<string>[] {
  let all: Inherited<string>[] = [];
  for (const { name, scope, doc } of bases.toReversed()) {
    const removed = new Set(names(doc, 'remove_parts'));
    all = all.filter((one) => !removed.has(one.value));
    const own = Array.isArray(doc.parts) ? doc.parts : [];
    for (const part of own) {
      const value = typeof part === 'string' ? part : String((part as { name?: unknown }).name ?? '');
      if (!all.some((one) => one.value === value)) all.push({ value, from: name, scope });
    }
  }
  return all;
}
