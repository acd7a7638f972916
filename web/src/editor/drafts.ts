import type { Kind, Scope } from '../api/client';
import type { Doc } from './doc';

/** Unsaved work, kept in the browser: one draft per tab and entity, so that two tabs never overwrite
 * each other. It survives a reload, a crash and going offline. */
export interface Draft {
  kind: Kind;
  name: string;
  scope: Scope;
  /** The revision and the definition that the draft started from. */
  revision: number;
  base: Doc;
  doc: Doc;
  tab: string;
  at: number;
  discardedAt?: number;
}

/** The part of IndexedDB that drafts need; tests hand in a map. */
export interface KeyValues {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  del(key: string): Promise<void>;
  entries(): Promise<[string, unknown][]>;
}

export interface Where {
  kind: Kind;
  name: string;
  scope: Scope;
}

const DISCARDED_KEPT_MS = 7 * 24 * 3600 * 1000;
const ORPHANS_KEPT_MS = 90 * 24 * 3600 * 1000;

export class DraftStore {
  constructor(
    private readonly values: KeyValues,
    private readonly tab: string,
    private readonly now: () => number,
    /** The tabs that are open now; a draft of any other tab is an orphan. */
    private readonly openTabs: () => Promise<ReadonlySet<string>>,
  ) {}

  async keep(where: Where, draft: Pick<Draft, 'revision' | 'base' | 'doc'>): Promise<void> {
    const kept: Draft = { ...where, ...draft, tab: this.tab, at: this.now() };
    await this.values.set(keyOf(where, this.tab), kept);
  }

  async drop(where: Where): Promise<void> {
    await this.values.del(keyOf(where, this.tab));
  }

  /** The draft of this tab; or else the newest one that a closed tab left, which this tab takes over.
   * `others` are drafts of the same entity that stay where they are. */
  async adopt(where: Where): Promise<{ draft?: Draft; others: Draft[] }> {
    const all = (await this.#drafts()).filter((draft) => sameEntity(draft, where) && draft.discardedAt === undefined);
    const open = await this.openTabs();
    const own = all.find((draft) => draft.tab === this.tab);
    const orphans = all.filter((draft) => !open.has(draft.tab) && draft.tab !== this.tab).sort((a, b) => b.at - a.at);
    const draft = own ?? orphans[0];
    const others = all.filter((other) => other !== draft);
    if (draft && draft !== own) {
      await this.values.set(keyOf(where, this.tab), { ...draft, tab: this.tab });
      await this.values.del(keyOf(where, draft.tab));
    }
    return draft ? { draft: { ...draft, tab: this.tab }, others } : { others };
  }

  /** Takes a draft back, and keeps it for a week. */
  async discard(where: Where): Promise<void> {
    const draft = (await this.values.get(keyOf(where, this.tab))) as Draft | undefined;
    if (!draft) return;
    const at = this.now();
    await this.values.set(`${keyOf(where, this.tab)}@${at}`, { ...draft, discardedAt: at });
    await this.drop(where);
  }

  /** Discarded drafts of an entity, newest first. */
  async discarded(where: Where): Promise<Draft[]> {
    const all = (await this.#drafts()).filter((draft) => sameEntity(draft, where) && draft.discardedAt !== undefined);
    return all.sort((a, b) => (b.discardedAt ?? 0) - (a.discardedAt ?? 0));
  }

  /** Removes what is too old to come back. */
  async sweep(): Promise<void> {
    const now = this.now();
    for (const [key, value] of await this.values.entries()) {
      if (!key.startsWith('draft/')) continue;
      const draft = value as Draft;
      const limit = draft.discardedAt === undefined ? ORPHANS_KEPT_MS : DISCARDED_KEPT_MS;
      if (now - (draft.discardedAt ?? draft.at) > limit) await this.values.del(key);
    }
  }

  async #drafts(): Promise<Draft[]> {
    return (await this.values.entries()).filter(([key]) => key.startsWith('draft/')).map(([, value]) => value as Draft);
  }
}

export function keyOf(where: Where, tab: string): string {
  return `draft/${where.scope}/${where.kind}/${where.name}/${tab}`;
}

function sameEntity(a: Where, b: Where): boolean {
  return a.kind === b.kind && a.name === b.name && a.scope === b.scope;
}
