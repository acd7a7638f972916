import { createStore, get, set } from 'idb-keyval';
import { api, ask, type Entity, type Kind, type Scope } from '../api/client';
import { AGENT_FRONT, after, keyOf, stillTrue, type AgentChange, type Step } from './agent-changes';
import { definitionOf, names, parts, type Doc } from './doc';
import type { Where } from './drafts';

/** A piece of the persona that the agent changed, with the revision before that. */
export interface PieceChange {
  kind: Kind;
  name: string;
  scope: Scope;
  revision: number;
  back: number;
  reason?: string;
}

/** A definition at a revision; 0 is before the first. */
export interface Version {
  revision: number;
  doc?: Doc;
}

interface Kept {
  revision: number;
  changes: readonly AgentChange[];
  pieces: readonly PieceChange[];
}

/** Revisions that are looked at one by one. After more than that, nothing is marked. */
const STEPS_LIMIT = 20;
const FIELDS: Partial<Record<Kind, string>> = { part: 'parts', trait: 'traits', skill: 'skills', guardrail: 'guardrails', test_input: 'test_inputs' };

let opened: ReturnType<typeof createStore> | undefined;
const shelf = () => (opened ??= createStore('masque-review', 'changes'));

/** The agent's changes of one entity that nobody kept or took back yet. They survive a reload. */
export class Review {
  changes = $state.raw<readonly AgentChange[]>([]);
  pieces = $state.raw<readonly PieceChange[]>([]);
  #where: Where | undefined;
  #revision = 0;
  #work: Promise<void> = Promise.resolve();

  of(field: string): readonly AgentChange[] {
    return this.changes.filter((change) => change.field === field);
  }

  /** Changed pieces that the field of a definition names. */
  piecesOf(field: string, doc: Doc): readonly PieceChange[] {
    const listed = field === 'parts' ? parts(doc).map((part) => part.name) : [...names(doc, field), doc[field]];
    return this.pieces.filter((piece) => (FIELDS[piece.kind] ?? piece.kind) === field && listed.includes(piece.name));
  }

  /** Brings back what was open, and adds what the agent did while no page looked. */
  resume(where: Where, now: Version & { doc: Doc }): void {
    this.#then(async () => {
      this.#where = where;
      const kept = (await get(storeKey(where), shelf())) as Kept | undefined;
      this.#revision = now.revision;
      if (!kept) return this.#keep();
      const steps = kept.revision < now.revision ? await stepsBetween(where, { revision: kept.revision }, now) : [];
      this.pieces = kept.pieces;
      this.changes = stillTrue(after(kept.changes, steps), now.doc);
      await this.#keep();
    });
  }

  /** Somebody saved: marks what the agent wrote. */
  follow(where: Where, before: Version, now: Version & { doc: Doc }): void {
    this.#then(async () => {
      this.#where = where;
      const steps = await stepsBetween(where, before, now);
      this.#revision = now.revision;
      this.changes = stillTrue(after(this.changes, steps), now.doc);
      await this.#keep();
    });
  }

  /** The person saved. */
  saved(where: Where, now: Version & { doc: Doc }): void {
    this.#then(async () => {
      this.#where = where;
      this.#revision = now.revision;
      this.changes = stillTrue(this.changes, now.doc);
      await this.#keep();
    });
  }

  /** A piece changed: marks it if the agent did it. */
  followPiece(kind: Kind, name: string): void {
    this.#then(async () => {
      const { data } = await ask(api.GET('/api/library/{kind}/{name}/history', { params: { path: { kind, name }, query: { limit: STEPS_LIMIT } } }));
      const others = this.pieces.filter((piece) => piece.kind !== kind || piece.name !== name);
      const known = this.pieces.find((piece) => piece.kind === kind && piece.name === name);
      const [newest] = data.items;
      const back = known?.back ?? data.items.find((one) => one.front !== AGENT_FRONT)?.revision;
      const marked = newest?.front === AGENT_FRONT && back !== undefined && back < newest.revision;
      this.pieces = marked ? [...others, { kind, name, scope: data.scope, revision: newest.revision, back, reason: newest.message ?? undefined }] : others;
      await this.#keep();
    });
  }

  keep(change: AgentChange): void {
    this.changes = this.changes.filter((one) => keyOf(one) !== keyOf(change));
    this.#then(() => this.#keep());
  }

  keepPiece(piece: PieceChange): void {
    this.pieces = this.pieces.filter((one) => one !== piece);
    this.#then(() => this.#keep());
  }

  keepAll(): void {
    this.changes = [];
    this.pieces = [];
    this.#then(() => this.#keep());
  }

  async undoPiece({ kind, name, scope, revision, back }: PieceChange): Promise<void> {
    const body = { revision: back, scope, if_revision: revision, message: `undid the agent's change of ${name}` };
    await ask(api.POST('/api/library/{kind}/{name}/rollback', { params: { path: { kind, name } }, body }));
    this.pieces = this.pieces.filter((one) => one.kind !== kind || one.name !== name);
  }

  /** One after the other. A mark that cannot be found out is left out: the change itself is there anyway. */
  #then(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch(() => {});
  }

  async #keep(): Promise<void> {
    if (!this.#where) return;
    const kept: Kept = { revision: this.#revision, changes: this.changes, pieces: this.pieces };
    await set(storeKey(this.#where), kept, shelf());
  }
}

function storeKey({ scope, kind, name }: Where): string {
  return `${scope}/${kind}/${name}`;
}

/** The revisions between two versions, oldest first. If one author made them all, they are one step. */
async function stepsBetween(where: Where, before: Version, now: Version & { doc: Doc }): Promise<Step[]> {
  const { kind, name, scope } = where;
  const params = { path: { kind, name }, query: { scope, limit: STEPS_LIMIT } };
  const { items } = (await ask(api.GET('/api/library/{kind}/{name}/history', { params }))).data;
  const made = items.filter((one) => one.revision > before.revision && one.revision <= now.revision).reverse();
  if (made.length === STEPS_LIMIT || !made.some((one) => one.front === AGENT_FRONT)) return [];
  const at = async (revision: number) => {
    if (revision === now.revision) return now.doc;
    if (revision === before.revision && before.doc) return before.doc;
    return definitionOf((await ask(api.GET('/api/library/{kind}/{name}', { params: { path: { kind, name }, query: { scope, revision } } }))).data as Entity);
  };
  const start = await at(before.revision);
  const last = made.at(-1);
  if (last && made.every((one) => one.front === AGENT_FRONT)) {
    return [{ revision: now.revision, front: AGENT_FRONT, reason: last.message ?? undefined, before: start, after: now.doc }];
  }
  const steps: Step[] = [];
  let doc = start;
  for (const one of made) {
    const next = await at(one.revision);
    steps.push({ revision: one.revision, front: one.front, reason: one.message ?? undefined, before: doc, after: next });
    doc = next;
  }
  return steps;
}
