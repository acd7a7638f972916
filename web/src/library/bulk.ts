import { api, ask, type Entity, type Kind, type ListItem, type Schemas, type Scope } from '../api/client';
import { Problem, asProblem } from '../api/problem';

/** What came of one item of several. */
export interface Outcome {
  item: ListItem;
  problem?: Problem;
}

/** Runs a change for each item in turn; a failure of one does not stop the others. */
export async function each(items: readonly ListItem[], change: (item: ListItem) => Promise<unknown>): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const item of items) {
    try {
      await change(item);
      outcomes.push({ item });
    } catch (error) {
      outcomes.push({ item, problem: asProblem(error) });
    }
  }
  return outcomes;
}

export async function addTag(item: ListItem, tag: string): Promise<void> {
  const path = { kind: item.kind, name: item.name };
  const { data, etag } = await ask(api.GET('/api/library/{kind}/{name}', { params: { path, query: { scope: item.scope } } }));
  const tags = ((data as Entity).tags as string[] | undefined) ?? [];
  if (tags.includes(tag)) return;
  const body = { entity: { tags: [...tags, tag] }, scope: item.scope, message: `tagged ${tag}` };
  await ask(api.PATCH('/api/library/{kind}/{name}', { params: { path, header: { 'If-Match': etag ?? undefined } }, body }));
}

export async function exportText(kind: Kind, names: string[]): Promise<string> {
  const { data } = await ask(api.GET('/api/export/{kind}', { params: { path: { kind }, query: { names } } }));
  return data.toml;
}

export async function promote(item: ListItem, to: Scope, move: boolean): Promise<void> {
  const path = { kind: item.kind, name: item.name };
  await ask(api.POST('/api/library/{kind}/{name}/promote', { params: { path }, body: { to, move, scope: item.scope } }));
}

export async function remove(item: ListItem, force: boolean): Promise<Schemas['Deleted']> {
  const path = { kind: item.kind, name: item.name };
  const query = { scope: item.scope, force };
  return (await ask(api.DELETE('/api/library/{kind}/{name}', { params: { path, query } }))).data;
}

/** Brings a deleted entity back: its newest revision is the deletion, the one before is the entity. */
export async function restore(item: ListItem): Promise<void> {
  const path = { kind: item.kind, name: item.name };
  const { data } = await ask(
    api.GET('/api/library/{kind}/{name}/history', { params: { path, query: { scope: item.scope, limit: 2 } } }),
  );
  const last = data.items.find((one) => one.action !== 'deleted' && one.action !== 'delete');
  if (!last) throw new Problem(0, { detail: `the history of ${item.kind} "${item.name}" has nothing to bring back` });
  const body = { revision: last.ask_for ?? last.revision, scope: item.scope, message: 'undid the deletion' };
  await ask(api.POST('/api/library/{kind}/{name}/rollback', { params: { path }, body: body as never }));
}

const USERS_LIMIT = 200;

export type User = Schemas['UsagePage']['items'][number];

/** Who uses an entity; undefined if this server cannot say. */
export async function usersOf(kind: Kind, name: string, signal?: AbortSignal, scope?: Scope): Promise<User[] | undefined> {
  try {
    const params = { path: { kind, name }, query: { limit: USERS_LIMIT, scope } };
    return (await ask(api.GET('/api/library/{kind}/{name}/usage', { params, signal }))).data.items;
  } catch (error) {
    if (error instanceof Problem && error.unsupported) return undefined;
    throw error;
  }
}
