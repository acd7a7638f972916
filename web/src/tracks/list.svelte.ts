import { asProblem, isAbort, type Problem } from '../api/problem';
import { waiting } from './board';
import { getTrack, listTracks } from './calls';
import type { Phase, TrackBoard, TrackItem } from './types';

const PAGE = 50;
const POLL_MS = 4_000;
/** Boards that the list reads to say what they need. */
const MOST_BOARDS = 12;
const OPEN: readonly Phase[] = ['running', 'waiting', 'paused'];
const isOpen = ({ phase }: TrackItem): boolean => OPEN.includes(phase);

/** The list of tracks. The server reports no changes of it, so its first page is read again every few seconds
 * while the page is visible. An entry has no needs and no counts: those come from its board. */
export class TrackListState {
  items = $state.raw<readonly TrackItem[]>([]);
  boards = $state.raw<ReadonlyMap<string, TrackBoard>>(new Map());
  loaded = $state(false);
  problem = $state.raw<Problem | undefined>();
  next = $state.raw<string | undefined>();
  needs = $derived(new Map([...this.boards].map(([id, board]) => [id, waiting(board).length])));

  #everywhere = false;
  #read = new Map<string, string>();
  #abort = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  start(everywhere: boolean): void {
    this.#everywhere = everywhere;
    void this.#poll();
  }

  close(): void {
    this.#abort.abort();
    clearTimeout(this.#timer);
  }

  async refresh(): Promise<void> {
    try {
      const page = await listTracks({ limit: PAGE, ...(this.#everywhere ? { everywhere: true } : {}) }, this.#abort.signal);
      const fresh = new Set(page.items.map(({ id }) => id));
      const older = this.items.length > PAGE ? this.items.filter(({ id }) => !fresh.has(id)) : [];
      if (older.length === 0) this.next = page.next_cursor ?? undefined;
      this.items = [...page.items, ...older];
      this.problem = undefined;
      await this.#readBoards();
    } catch (error) {
      if (!isAbort(error)) this.problem = asProblem(error);
    } finally {
      this.loaded = true;
    }
  }

  async more(): Promise<void> {
    if (!this.next) return;
    try {
      const page = await listTracks({ limit: PAGE, cursor: this.next, ...(this.#everywhere ? { everywhere: true } : {}) }, this.#abort.signal);
      const known = new Set(this.items.map(({ id }) => id));
      this.items = [...this.items, ...page.items.filter(({ id }) => !known.has(id))];
      this.next = page.next_cursor ?? undefined;
    } catch (error) {
      if (!isAbort(error)) this.problem = asProblem(error);
    }
  }

  async #readBoards(): Promise<void> {
    // Those that may need the reader come first.
    const wanted = [...this.items.filter(isOpen), ...this.items.filter((item) => !isOpen(item))].slice(0, MOST_BOARDS);
    const changed = wanted.filter(({ id, updated_at }) => this.#read.get(id) !== updated_at);
    const read = await Promise.all(changed.map(async (item) => [item, await getTrack(item.id, this.#abort.signal).catch(() => undefined)] as const));
    const kept = new Set(wanted.map(({ id }) => id));
    const boards = new Map([...this.boards].filter(([id]) => kept.has(id)));
    for (const [{ id, updated_at }, board] of read) {
      if (board) (boards.set(id, board), this.#read.set(id, updated_at));
    }
    this.boards = boards;
  }

  async #poll(): Promise<void> {
    if (!document.hidden) await this.refresh();
    if (!this.#abort.signal.aborted) this.#timer = setTimeout(() => void this.#poll(), POLL_MS);
  }
}
