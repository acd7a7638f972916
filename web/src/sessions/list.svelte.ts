import { api, ask } from '../api/client';
import { asProblem, isAbort, type Problem } from '../api/problem';
import type { Session } from './order';

const PAGE = 200;
const POLL_MS = 4_000;

/** The list of sessions, kept while the reader moves between them. The server reports no changes of
 * sessions, so the newest page is read again every few seconds while the page is visible. */
class SessionList {
  items = $state.raw<readonly Session[]>([]);
  loaded = $state(false);
  problem = $state.raw<Problem | undefined>();
  next = $state.raw<string | undefined>();
  #users = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Reads the list for as long as the returned function is not called. */
  use(): () => void {
    this.#users += 1;
    if (this.#users === 1) void this.#poll();
    return () => {
      this.#users -= 1;
      if (this.#users === 0) clearTimeout(this.#timer);
    };
  }

  async refresh(): Promise<void> {
    try {
      const { data } = await ask(api.GET('/api/sessions', { params: { query: { limit: PAGE } } }));
      const fresh = new Set(data.items.map(({ id }) => id));
      const oldest = data.items.at(-1)?.updated_at ?? '';
      // Older pages that were loaded stay; what left the newest page was deleted.
      const older = data.next_cursor ? this.items.filter(({ id, updated_at }) => !fresh.has(id) && updated_at < oldest) : [];
      if (older.length === 0) this.next = data.next_cursor ?? undefined;
      this.items = [...data.items, ...older];
      this.problem = undefined;
    } catch (error) {
      if (!isAbort(error)) this.problem = asProblem(error);
    } finally {
      this.loaded = true;
    }
  }

  async more(): Promise<void> {
    if (!this.next) return;
    try {
      const { data } = await ask(api.GET('/api/sessions', { params: { query: { limit: PAGE, cursor: this.next } } }));
      const known = new Set(this.items.map(({ id }) => id));
      this.items = [...this.items, ...data.items.filter(({ id }) => !known.has(id))];
      this.next = data.next_cursor ?? undefined;
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  async #poll(): Promise<void> {
    if (!document.hidden) await this.refresh();
    if (this.#users > 0) this.#timer = setTimeout(() => void this.#poll(), POLL_MS);
  }
}

export const sessionList = new SessionList();
