import { changes } from '../api/changes.svelte';
import { api, ask, type Entity, type Kind, type Scope } from '../api/client';
import { Problem, asProblem } from '../api/problem';
import { isOverwritten, sayChange, takenBack, type AgentChange } from './agent-changes';
import { changedFields, definitionOf, equal, reasonFor, saveScope, withField, type Doc } from './doc';
import type { Draft, Where } from './drafts';
import { Locks } from './locks.svelte';
import { merge, settle, type Choice, type Conflict } from './merge';
import { Review } from './review.svelte';
import { drafts, keepLate } from './tab';

const KEEP_MS = 150;
const UNDO_LIMIT = 200;
const UNDO_GROUP_MS = 1_000;

interface UndoStep {
  doc: Doc;
  field: string;
  at: number;
}

export interface Saved {
  revision: number;
  scope: Scope;
  changed: boolean;
}

/** One open entity: what is saved, what is typed, and the way between both. The page for personas, the
 * page for pieces and the side sheet all edit through this. */
export class EntityEditor {
  readonly kind: Kind;
  readonly name: string;
  /** What the server has; undefined while loading. */
  base = $state.raw<Doc | undefined>();
  doc = $state.raw<Doc>({});
  scope = $state<Scope>('shared');
  /** Where a copy of a builtin goes. */
  target = $state<Scope>('shared');
  revision = $state(0);
  updatedAt = $state<string | undefined>();
  problem = $state<Problem | undefined>();
  /** The refusal of the last save, beside the field that caused it. */
  refusal = $state<Problem | undefined>();
  saving = $state(false);
  /** Fields that came from elsewhere since the last look; they are washed for a moment. */
  arrived = $state.raw<ReadonlySet<string>>(new Set());
  conflicts = $state.raw<readonly Conflict[]>([]);
  notice = $state<string | undefined>();
  others = $state.raw<readonly Draft[]>([]);
  gone = $state(false);
  /** What the agent changed, until the person keeps it or takes it back. */
  readonly review = new Review();
  readonly locks: Locks;
  /** Fields that the agent asks about, and the way to the question. */
  asked = $state.raw<{ fields: ReadonlySet<string>; show: () => void } | undefined>();

  changed = $derived(this.base ? changedFields(this.base, this.doc) : []);
  dirty = $derived(this.changed.length > 0);
  reason = $derived(this.base ? reasonFor(this.base, this.doc) : '');
  canUndo = $derived.by(() => this.#past.length > 0);
  canRedo = $derived.by(() => this.#future.length > 0);

  #past = $state.raw<readonly UndoStep[]>([]);
  #future = $state.raw<readonly UndoStep[]>([]);
  #etag: string | null = null;
  #keepTimer: ReturnType<typeof setTimeout> | undefined;
  #keeping: Promise<void> = Promise.resolve();
  #stop: (() => void) | undefined;
  #wanted: Scope | undefined;
  /** True if a stronger scope had the name when this builtin was opened. */
  #shadowed = false;

  constructor(kind: Kind, name: string, scope?: Scope) {
    this.kind = kind;
    this.name = name;
    this.#wanted = scope;
    this.locks = new Locks(kind, name);
  }

  get where(): Where {
    return { kind: this.kind, name: this.name, scope: this.scope };
  }

  /** Reads the entity, then the draft that this tab or a closed one left. */
  async open(): Promise<void> {
    this.problem = undefined;
    this.#stop?.();
    this.#stop = changes.listen((event) => {
      if (event.type === 'everything' || (event.kind === this.kind && event.name === this.name)) {
        void this.#refresh();
        if (this.base) void this.locks.load(this.scope);
      }
    });
    addEventListener('pagehide', this.#leave);
    try {
      const entity = await this.#fetch();
      this.#takeBase(entity);
      this.doc = definitionOf(entity);
      this.base = this.doc;
      this.#shadowed = this.scope === 'builtin' && this.#wanted === 'builtin' && (await this.#fetchFrom(undefined)).entity.scope !== 'builtin';
      void this.locks.load(this.scope);
      this.review.resume(this.where, { revision: this.revision, doc: this.doc });
    } catch (error) {
      this.problem = asProblem(error);
      return;
    }
    const { draft, others } = await (await drafts()).adopt(this.where);
    this.others = others;
    if (!draft || equal(draft.doc, this.base)) return;
    this.doc = draft.doc;
    if (!equal(draft.base, this.base)) this.#mergeWith(draft.base, this.base ?? {});
  }

  close(): void {
    this.#stop?.();
    removeEventListener('pagehide', this.#leave);
    this.#flush();
  }

  set(field: string, value: unknown): void {
    const next = withField(this.doc, field, value);
    if (equal(next[field], this.doc[field])) return;
    this.#remember(field);
    this.#put(next);
  }

  /** Several fields as one undo step. */
  setAll(fields: Doc): void {
    this.#remember(Object.keys(fields).join());
    let next = this.doc;
    for (const [field, value] of Object.entries(fields)) next = withField(next, field, value);
    this.#put(next);
  }

  undo(): void {
    const step = this.#past.at(-1);
    if (!step) return;
    this.#past = this.#past.slice(0, -1);
    this.#future = [...this.#future, { doc: this.doc, field: step.field, at: 0 }];
    this.#put(step.doc);
  }

  redo(): void {
    const step = this.#future.at(-1);
    if (!step) return;
    this.#future = this.#future.slice(0, -1);
    this.#past = [...this.#past, { doc: this.doc, field: step.field, at: 0 }];
    this.#put(step.doc);
  }

  /** Makes one revision of what is typed now. Saves are serial; a late answer never replaces newer typing. */
  async save(reason: string): Promise<Saved | undefined> {
    if (this.saving || !this.base || this.conflicts.length > 0) return undefined;
    this.saving = true;
    this.refusal = undefined;
    const sent = this.doc;
    try {
      return await this.#send(sent, reason, true);
    } catch (error) {
      this.refusal = asProblem(error);
      return undefined;
    } finally {
      this.saving = false;
    }
  }

  /** Takes back everything typed; the draft is kept for a week. */
  async cancel(): Promise<void> {
    await this.#keep();
    await (await drafts()).discard(this.where);
    this.#remember('');
    this.doc = this.base ?? {};
    this.conflicts = [];
    this.notice = undefined;
    this.refusal = undefined;
  }

  /** Brings a discarded or another tab's draft back as the current one. */
  take(draft: Draft): void {
    this.#remember('');
    const merged = merge(draft.base, draft.doc, this.base ?? {});
    this.conflicts = merged.conflicts;
    this.#put(merged.doc);
  }

  choose(conflict: Conflict, choice: Choice): void {
    this.conflicts = this.conflicts.filter((one) => one !== conflict);
    this.#remember(conflict.field);
    // Typing went on since the conflict was found.
    this.#put(settle(this.doc, { ...conflict, mine: this.doc[conflict.field] }, choice));
  }

  /** Takes one change of the agent back as a revision of its own. What is typed elsewhere stays a draft. */
  async undoChange(change: AgentChange): Promise<boolean> {
    if (this.saving || !this.base) return false;
    this.saving = true;
    this.refusal = undefined;
    try {
      const typed = isOverwritten(this.doc, change) ? this.doc : takenBack(this.doc, change);
      await this.#send(takenBack(this.base, change), `undid: the agent ${sayChange(change)} (${change.field.replaceAll('_', ' ')})`, false);
      this.#remember('');
      this.#put(typed);
      return true;
    } catch (error) {
      this.refusal = asProblem(error);
      return false;
    } finally {
      this.saving = false;
    }
  }

  async #send(sent: Doc, reason: string, retry: boolean): Promise<Saved> {
    const scope = saveScope(this.scope, this.target);
    const path = { kind: this.kind, name: this.name };
    const body = { entity: { ...sent, name: this.name }, message: reason || reasonFor(this.base ?? {}, sent), scope };
    const header = { 'If-Match': this.#etag ?? undefined };
    try {
      const { data, etag } = await ask(api.PUT('/api/library/{kind}/{name}', { params: { path, header }, body }));
      await (await drafts()).drop(this.where);
      if (data.scope !== this.scope) void this.locks.load(data.scope);
      this.scope = data.scope;
      this.revision = data.revision;
      this.updatedAt = new Date().toISOString();
      this.#etag = etag;
      this.base = sent;
      this.gone = false;
      this.review.saved(this.where, { revision: data.revision, doc: sent });
      if (!equal(this.doc, sent)) await this.#keep();
      return { revision: data.revision, scope: data.scope, changed: data.changed };
    } catch (error) {
      const problem = asProblem(error);
      if (problem.code !== 'stale_revision' || !retry) throw problem;
      return await this.#afterStale(reason, problem);
    }
  }

  async #afterStale(reason: string, problem: Problem): Promise<Saved> {
    const old = this.#started(this.base ?? {});
    this.#takeBase(await this.#fetch());
    this.#mergeWith(old, this.base ?? {});
    if (this.conflicts.length > 0) throw problem;
    return await this.#send(this.doc, reason, false);
  }

  /** Somebody else saved: an agent, another tab, a file. What nobody edits here is taken over at once. */
  async #refresh(): Promise<void> {
    if (!this.base || this.saving) return;
    try {
      const entity = await this.#fetch();
      const theirs = definitionOf(entity);
      const before = this.base;
      const started = this.#started(before);
      const old = { ...this.where, revision: this.revision };
      if (equal(before, theirs) && entity.revision === this.revision) return;
      const fields = changedFields(before, theirs);
      const wasDirty = this.dirty;
      this.#takeBase(entity);
      const moved = old.scope !== this.scope;
      if (moved) void this.locks.load(this.scope);
      // The draft goes with its entity when the agent makes a copy of a builtin.
      if (moved && wasDirty) await (await drafts()).drop(old);
      this.review.follow(this.where, { revision: moved ? 0 : old.revision, doc: before }, { revision: this.revision, doc: theirs });
      if (wasDirty) this.#mergeWith(started, theirs);
      else this.doc = theirs;
      this.arrived = new Set(fields);
      setTimeout(() => (this.arrived = new Set()), 4_000);
    } catch (error) {
      if (error instanceof Problem && error.status === 404) this.gone = true;
    }
  }

  /** What both sides started from. An open conflict stays one until the person settles it, however often
   * the others save meanwhile. */
  #started(now: Doc): Doc {
    return this.conflicts.reduce((doc, { field, base }) => withField(doc, field, base), now);
  }

  #mergeWith(old: Doc, theirs: Doc): void {
    const merged = merge(old, this.doc, theirs);
    this.conflicts = merged.conflicts;
    const words = (fields: string[]) => fields.map((field) => field.replaceAll('_', ' ')).join(', ');
    if (merged.taken.length > 0) this.notice = `Revision ${this.revision} changed ${words(merged.taken)}; your draft has both.`;
    this.#remember('');
    this.#put(merged.doc);
  }

  #takeBase(entity: Entity): void {
    this.base = definitionOf(entity);
    this.scope = entity.scope;
    this.revision = entity.revision;
    this.updatedAt = entity.updated_at ?? undefined;
  }

  async #fetch(): Promise<Entity> {
    // A builtin never changes, but the agent and other tabs may make a copy, which then counts.
    const follows = this.scope === 'builtin' && !this.#shadowed;
    const scope = !this.base ? this.#wanted : follows ? undefined : this.scope;
    const { entity, etag } = await this.#fetchFrom(scope);
    this.#etag = etag;
    return entity;
  }

  async #fetchFrom(scope: Scope | undefined): Promise<{ entity: Entity; etag: string | null }> {
    const params = { path: { kind: this.kind, name: this.name }, query: { scope } };
    const { data, etag } = await ask(api.GET('/api/library/{kind}/{name}', { params }));
    return { entity: data as Entity, etag };
  }

  #remember(field: string): void {
    const last = this.#past.at(-1);
    const now = Date.now();
    this.#future = [];
    if (last && field !== '' && last.field === field && now - last.at < UNDO_GROUP_MS) {
      this.#past = [...this.#past.slice(0, -1), { ...last, at: now }];
      return;
    }
    this.#past = [...this.#past.slice(-UNDO_LIMIT), { doc: this.doc, field, at: now }];
  }

  #put(doc: Doc): void {
    this.doc = doc;
    clearTimeout(this.#keepTimer);
    this.#keepTimer = setTimeout(() => void this.#keep(), KEEP_MS);
  }

  #flush = (): void => {
    if (this.#keepTimer !== undefined) void this.#keep();
  };

  #leave = (): void => {
    if (this.base && this.dirty) keepLate(this.where, this.#draft(this.base));
  };

  #draft(base: Doc): Pick<Draft, 'revision' | 'base' | 'doc'> {
    return { revision: this.revision, base: this.#started(base), doc: this.doc };
  }

  /** Writes the draft, one write after the other; an unchanged document has none. */
  #keep(): Promise<void> {
    clearTimeout(this.#keepTimer);
    this.#keepTimer = undefined;
    this.#keeping = this.#keeping.then(async () => {
      if (!this.base) return;
      const store = await drafts();
      if (this.dirty) await store.keep(this.where, this.#draft(this.base));
      else await store.drop(this.where);
    });
    return this.#keeping;
  }
}
