import { SvelteMap } from 'svelte/reactivity';
import { api, ask, type ListItem, type Schemas } from '../api/client';

export type Manifest = Schemas['Manifest'];

const AT_ONCE = 4;

/** Parts and tokens of personas, fetched for the cards in view, a few at a time. */
class Manifests {
  #known = new SvelteMap<string, Manifest | null>();
  #waiting: ListItem[] = [];
  #active = 0;

  of(item: ListItem): Manifest | undefined {
    return this.#known.get(item.name) ?? undefined;
  }

  /** Asks for those in view; what left the view before its turn is not fetched. */
  want(items: readonly ListItem[]): void {
    this.#waiting = items.filter((item) => item.kind === 'persona' && !this.#known.has(item.name));
    while (this.#active < AT_ONCE && this.#waiting.length > 0) void this.#next();
  }

  forget(name?: string): void {
    if (name === undefined) this.#known.clear();
    else this.#known.delete(name);
  }

  async #next(): Promise<void> {
    const item = this.#waiting.shift();
    if (!item || this.#known.has(item.name)) return;
    this.#active += 1;
    this.#known.set(item.name, null);
    try {
      const path = { name: item.name };
      const { data } = await ask(api.GET('/api/personas/{name}/manifest', { params: { path } }));
      this.#known.set(item.name, data);
    } catch {
      // A card without its counts is still a card; the error shows when it is opened.
    }
    this.#active -= 1;
    if (this.#waiting.length > 0) void this.#next();
  }
}

export const manifests = new Manifests();

/** Tokens by part type, largest first, for the small bar on a card. */
export function byType(manifest: Manifest): { type: string; tokens: number }[] {
  const sums = new Map<string, number>();
  for (const part of manifest.parts) sums.set(part.type, (sums.get(part.type) ?? 0) + part.tokens);
  return [...sums].map(([type, tokens]) => ({ type, tokens })).sort((a, b) => b.tokens - a.tokens);
}
