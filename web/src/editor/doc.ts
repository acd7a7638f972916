import type { Entity, Scope } from '../api/client';

/** A definition as the editor holds it: plain JSON. Fields that the page does not know stay in it. */
export type Doc = Record<string, unknown>;

/** What the server adds to a definition; the editor never compares or merges these. */
const META = new Set(['scope', 'revision', 'guid', 'created_at', 'updated_at']);

export interface Part {
  name: string;
  order: number;
  priority: number;
  [key: string]: unknown;
}

export interface Model {
  provider: string;
  model: string;
  temperature?: number;
  top_p?: number;
  max_output_tokens?: number;
  [key: string]: unknown;
}

export interface Example {
  user: string;
  persona: string;
}

export function definitionOf(entity: Entity): Doc {
  return Object.fromEntries(Object.entries(entity).filter(([field]) => !META.has(field)));
}

/** True for what counts as "not set": the server leaves such fields out or sends them empty. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.values(value).every(isEmpty);
}

/** Equal as definitions: the order of keys and empty fields do not count. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b || (isEmpty(a) && isEmpty(b))) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, at) => equal(item, b[at]));
  }
  const one = a as Doc;
  const other = b as Doc;
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((key) => equal(one[key], other[key]));
}

/** The fields in which two definitions differ, in a stable order. */
export function changedFields(before: Doc, after: Doc): string[] {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...fields].filter((field) => !META.has(field) && !equal(before[field], after[field])).sort();
}

/** A copy with one field set; an empty value takes the field out. */
export function withField(doc: Doc, field: string, value: unknown): Doc {
  const next = { ...doc };
  if (isEmpty(value)) delete next[field];
  else next[field] = value;
  return next;
}

export function text(doc: Doc, field: string): string {
  const value = doc[field];
  return typeof value === 'string' ? value : '';
}

export function names(doc: Doc, field: string): string[] {
  const value = doc[field];
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}

/** Parts in the order in which they are assembled. A part may be a bare name, as in a file. */
export function parts(doc: Doc): Part[] {
  const value = Array.isArray(doc.parts) ? doc.parts : [];
  const all = value.map((part, at) =>
    typeof part === 'string' ? { name: part, order: at, priority: 0 } : { priority: 0, order: at, ...(part as Partial<Part>) },
  ) as Part[];
  return all.toSorted((a, b) => a.order - b.order || a.name.localeCompare(b.name));
}

const ORDER_STEP = 10;

/** Numbers parts 10, 20, 30…, so that a later insertion has room. Keeps numbers that fit already. */
export function numbered(list: readonly Part[]): Part[] {
  const rising = list.every((part, at) => at === 0 || part.order > (list[at - 1]?.order ?? 0));
  return rising ? [...list] : list.map((part, at) => ({ ...part, order: (at + 1) * ORDER_STEP }));
}

export type Move = 'up' | 'down' | 'first' | 'last' | number;

/** Moves one item; a number is the new position, from 0. Returns the same list if nothing moves. */
export function moved<T>(list: readonly T[], at: number, to: Move): { list: readonly T[]; at: number } {
  const wanted = to === 'up' ? at - 1 : to === 'down' ? at + 1 : to === 'first' ? 0 : to === 'last' ? list.length - 1 : to;
  const target = Math.max(0, Math.min(list.length - 1, wanted));
  if (target === at || list[at] === undefined) return { list, at };
  const next = list.toSpliced(at, 1);
  next.splice(target, 0, list[at]);
  return { list: next, at: target };
}

/** The reason that Save prefills: which fields change. */
export function reasonFor(before: Doc, after: Doc): string {
  const fields = changedFields(before, after).map((field) => field.replaceAll('_', ' '));
  if (fields.length === 0) return '';
  if (fields.length > 4) return `edited ${fields.slice(0, 3).join(', ')} and ${fields.length - 3} more`;
  return `edited ${fields.length === 1 ? fields[0] : `${fields.slice(0, -1).join(', ')} and ${fields.at(-1)}`}`;
}

/** Where a save goes: builtins cannot change, so their copy goes elsewhere. */
export function saveScope(scope: Scope, chosen: Scope | undefined): Scope {
  return scope === 'builtin' ? (chosen ?? 'shared') : scope;
}
