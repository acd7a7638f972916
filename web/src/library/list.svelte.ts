import { api, ask, type ListItem, type Schemas } from '../api/client';
import { asProblem, isAbort, type Problem } from '../api/problem';
import { sorted, type Filter } from './filter';

const PAGE = 100;
/** Sorting by the last edit and showing problems need every item; beyond this many they need a filter. */
const WHOLE_LIMIT = 20_000;

/** The items of one filter, page by page. A filter that changes starts again, and late answers of the
 * one before are dropped. The old items stay until the new ones are there, so that nothing jumps. */
export class LibraryList {
  items = $state.raw<readonly ListItem[]>([]);
  /** False until the first answer of the first filter. */
  ready = $state(false);
  loading = $state(false);
  complete = $state(false);
  problem = $state<Problem | undefined>();
  #filter: Filter | undefined;
  #cursor: string | undefined;
  #abort = new AbortController();

  async show(filter: Filter): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#filter = filter;
    this.#cursor = undefined;
    this.loading = false;
    await this.#page([], PAGE);
    if (filter.sort !== 'name' || filter.problems) await this.#rest();
  }

  /** Reads again as much as is shown, in place. */
  async refresh(): Promise<void> {
    if (!this.#filter || this.#filter.sort !== 'name') return this.#filter ? this.show(this.#filter) : undefined;
    const shown = this.items.length;
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#cursor = undefined;
    let items: readonly ListItem[] = [];
    do {
      const page = await this.#fetch();
      if (!page) return;
      items = [...items, ...page.items];
    } while (items.length < shown && this.#cursor !== undefined);
    this.items = items;
    this.complete = this.#cursor === undefined;
  }

  async more(): Promise<void> {
    if (this.loading || this.complete || !this.#filter) return;
    await this.#page(this.items, 2 * PAGE);
  }

  async #rest(): Promise<void> {
    const filter = this.#filter;
    while (filter === this.#filter && !this.complete && !this.problem && this.items.length < WHOLE_LIMIT) {
      await this.#page(this.items, 2 * PAGE);
    }
  }

  async #page(before: readonly ListItem[], limit: number): Promise<void> {
    const filter = this.#filter;
    this.loading = true;
    const page = await this.#fetch(limit);
    if (!page || filter !== this.#filter || !filter) return;
    this.items = sorted([...before, ...page.items], filter.sort);
    this.complete = this.#cursor === undefined;
    this.loading = false;
    this.ready = true;
  }

  async #fetch(limit = 2 * PAGE): Promise<Schemas['Page'] | undefined> {
    const filter = this.#filter;
    const signal = this.#abort.signal;
    if (!filter) return undefined;
    const query = {
      cursor: this.#cursor,
      limit,
      query: filter.text.trim() || undefined,
      scope: filter.scope,
      tags: filter.tags.length > 0 ? filter.tags : undefined,
    };
    try {
      const { data } = await ask(api.GET('/api/library/{kind}', { params: { path: { kind: filter.kind }, query }, signal }));
      if (signal.aborted) return undefined;
      this.#cursor = data.next_cursor ?? undefined;
      this.problem = undefined;
      return data;
    } catch (error) {
      if (isAbort(error) || signal.aborted) return undefined;
      this.problem = asProblem(error);
      this.loading = false;
      this.ready = true;
      return undefined;
    }
  }
}
