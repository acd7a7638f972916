import { changedFields, equal, isEmpty, withField, type Doc } from './doc';

/** What the editing agent changed and the person has not looked over yet: one change for each field, or
 * for each item of a list of names. Pure: definitions in, changes out. */
export interface AgentChange {
  field: string;
  /** The item of a list: the name of a part, a trait, a tag. Undefined: the field as a whole. */
  item?: string;
  before: unknown;
  after: unknown;
  /** The revision that has the change, and the message that asked for it. */
  revision: number;
  reason?: string;
}

/** One revision: who made it, and the definitions around it. */
export interface Step {
  revision: number;
  front: string;
  reason?: string;
  before: Doc;
  after: Doc;
}

/** The front under which the server records the editing agent. */
export const AGENT_FRONT = 'editor';

export function keyOf(change: Pick<AgentChange, 'field' | 'item'>): string {
  return change.item === undefined ? change.field : `${change.field}/${change.item}`;
}

/** The changes that are open after some revisions. A later change of the agent joins the earlier one; a
 * value that anybody else set since is no longer the agent's. */
export function after(open: readonly AgentChange[], steps: readonly Step[]): AgentChange[] {
  let changes = [...open];
  for (const step of steps) {
    if (step.front === AGENT_FRONT) changes = join(changes, changesOf(step));
    changes = stillTrue(changes, step.after);
  }
  return changes;
}

/** The changes that the saved definition still has. */
export function stillTrue(changes: readonly AgentChange[], saved: Doc): AgentChange[] {
  return changes.filter((change) => equal(valueOf(saved, change), change.after));
}

/** The definition without one change; everything else stays, so later edits by hand survive. */
export function takenBack(doc: Doc, change: AgentChange): Doc {
  if (change.item === undefined) return withField(doc, change.field, change.before);
  const list = listOf(doc, change.field);
  const at = list.findIndex((one) => nameOf(one) === change.item);
  if (change.before === undefined) return withField(doc, change.field, at < 0 ? list : list.toSpliced(at, 1));
  return withField(doc, change.field, at < 0 ? [...list, change.before] : list.with(at, change.before));
}

/** True if the person's draft has another value than the agent wrote. */
export function isOverwritten(doc: Doc, change: AgentChange): boolean {
  return !equal(valueOf(doc, change), change.after);
}

/** What the agent did, in words: `wrote this`, `added calm-tone`. */
export function sayChange(change: AgentChange): string {
  if (change.item !== undefined) {
    if (change.before === undefined) return `added ${change.item}`;
    return change.after === undefined ? `took ${change.item} out` : `changed ${change.item}`;
  }
  if (isEmpty(change.after)) return 'emptied this';
  return isEmpty(change.before) ? 'wrote this' : 'changed this';
}

function changesOf({ before, after: now, revision, reason }: Step): AgentChange[] {
  return changedFields(before, now).flatMap((field) => {
    const items = changedItems(before[field], now[field]);
    const changes = items ?? [{ before: before[field], after: now[field] }];
    return changes.map((change) => ({ field, ...change, revision, reason }));
  });
}

/** The items that differ between two lists of names or of named tables. Undefined if the values are no
 * such lists, or if only their order differs. */
function changedItems(before: unknown, now: unknown): Pick<AgentChange, 'item' | 'before' | 'after'>[] | undefined {
  const [old, fresh] = [keyed(before), keyed(now)];
  if (!old || !fresh) return undefined;
  const names = [...new Set([...old.keys(), ...fresh.keys()])];
  const changed = names.filter((name) => !equal(old.get(name), fresh.get(name)));
  return changed.length === 0 ? undefined : changed.map((item) => ({ item, before: old.get(item), after: fresh.get(item) }));
}

function join(open: readonly AgentChange[], fresh: readonly AgentChange[]): AgentChange[] {
  const all = new Map(open.map((change) => [keyOf(change), change]));
  for (const change of fresh) {
    const old = all.get(keyOf(change));
    const joined = old ? { ...change, before: old.before } : change;
    all.delete(keyOf(change));
    if (!equal(joined.before, joined.after)) all.set(keyOf(change), joined);
  }
  return [...all.values()];
}

function valueOf(doc: Doc, { field, item }: AgentChange): unknown {
  return item === undefined ? doc[field] : listOf(doc, field).find((one) => nameOf(one) === item);
}

function listOf(doc: Doc, field: string): unknown[] {
  const value = doc[field];
  return Array.isArray(value) ? value : [];
}

function keyed(value: unknown): Map<string, unknown> | undefined {
  if (value !== undefined && value !== null && !Array.isArray(value)) return undefined;
  const list = value ?? [];
  const map = new Map<string, unknown>();
  for (const one of list) {
    const name = nameOf(one);
    if (name === undefined || map.has(name)) return undefined;
    map.set(name, one);
  }
  return map;
}

function nameOf(item: unknown): string | undefined {
  if (typeof item === 'string') return item;
  const name = (item as { name?: unknown } | null)?.name;
  return typeof name === 'string' ? name : undefined;
}
