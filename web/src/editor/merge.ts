import { changedFields, equal, type Doc } from './doc';

/** A three-way merge by field: `base` is what both started from. Fields that only one side changed
 * merge by themselves; a field that both changed differently is a conflict for the person. */
export interface Merge {
  /** The merged definition; conflicting fields have mine. */
  doc: Doc;
  /** Fields taken over from theirs. */
  taken: string[];
  conflicts: Conflict[];
}

export interface Conflict {
  field: string;
  base: unknown;
  mine: unknown;
  theirs: unknown;
}

export type Choice = 'mine' | 'theirs' | 'both';

export function merge(base: Doc, mine: Doc, theirs: Doc): Merge {
  const doc: Doc = { ...mine };
  const taken: string[] = [];
  const conflicts: Conflict[] = [];
  for (const field of changedFields(base, theirs)) {
    if (equal(mine[field], theirs[field])) continue;
    if (equal(base[field], mine[field])) {
      taken.push(field);
      set(doc, field, theirs[field]);
      continue;
    }
    const list = mergeLists(base[field], mine[field], theirs[field]);
    if (list) {
      taken.push(field);
      set(doc, field, list);
      continue;
    }
    conflicts.push({ field, base: base[field], mine: mine[field], theirs: theirs[field] });
  }
  return { doc, taken, conflicts };
}

/** Applies the person's answer to a conflict. *Both* joins texts, mine first. */
export function settle(doc: Doc, conflict: Conflict, choice: Choice): Doc {
  const next = { ...doc };
  if (choice === 'mine') set(next, conflict.field, conflict.mine);
  else if (choice === 'theirs') set(next, conflict.field, conflict.theirs);
  else set(next, conflict.field, joined(conflict.mine, conflict.theirs));
  return next;
}

/** True if *both* means something: two texts or two lists. */
export function canJoin(conflict: Conflict): boolean {
  const { mine, theirs } = conflict;
  if (typeof mine === 'string' && typeof theirs === 'string') return mine.includes('\n') || theirs.includes('\n') || mine.length + theirs.length > 80;
  return Array.isArray(mine) && Array.isArray(theirs);
}

function joined(mine: unknown, theirs: unknown): unknown {
  if (typeof mine === 'string' && typeof theirs === 'string') return `${mine.trimEnd()}\n\n${theirs.trimStart()}`;
  if (Array.isArray(mine) && Array.isArray(theirs)) {
    return [...mine, ...theirs.filter((item) => !mine.some((other) => keyOf(other) === keyOf(item)))];
  }
  return mine;
}

/** Lists of names or of named tables merge item by item: additions and removals of both sides. Undefined
 * if they are not such lists, or if both sides changed the same item or the order. */
function mergeLists(base: unknown, mine: unknown, theirs: unknown): unknown[] | undefined {
  const [was, ours, other] = [base ?? [], mine ?? [], theirs ?? []];
  if (!Array.isArray(was) || !Array.isArray(ours) || !Array.isArray(other)) return undefined;
  const all = [was, ours, other].map(keyed);
  const [before, left, right] = all;
  if (!before || !left || !right) return undefined;
  const result: unknown[] = [];
  for (const [key, item] of left) {
    const old = before.get(key);
    const also = right.get(key);
    if (old !== undefined && also === undefined) {
      if (!equal(old, item)) return undefined;
      continue;
    }
    if (also === undefined || equal(also, item) || equal(also, old)) result.push(item);
    else if (equal(old, item)) result.push(also);
    else return undefined;
  }
  for (const [key, item] of right) {
    if (left.has(key)) continue;
    const old = before.get(key);
    if (old === undefined) result.push(item);
    else if (!equal(old, item)) return undefined;
  }
  return result;
}

function keyed(list: unknown[]): Map<string, unknown> | undefined {
  const map = new Map<string, unknown>();
  for (const item of list) {
    const key = keyOf(item);
    if (key === undefined || map.has(key)) return undefined;
    map.set(key, item);
  }
  return map;
}

function keyOf(item: unknown): string | undefined {
  if (typeof item === 'string') return item;
  const name = (item as { name?: unknown } | null)?.name;
  return typeof name === 'string' ? name : undefined;
}

function set(doc: Doc, field: string, value: unknown): void {
  if (value === undefined) delete doc[field];
  else doc[field] = value;
}
