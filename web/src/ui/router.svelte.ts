import { places } from '../places';
import { matchPath, withQuery, type Route } from './route';

interface Kept {
  scroll: Record<string, number>;
  focus?: string;
}

const KEPT_LIMIT = 100;

/** The current place. Links are plain <a href>: the router takes their clicks over. */
class Router {
  url = $state.raw(new URL(location.href));
  route = $derived<Route>(matchPath(places, this.url));
  /** The address without its query: a change of it is a new page, which gets the focus. */
  path = $derived(this.url.pathname);
  #kept = new Map<string, Kept>();
  #key = '';

  start(): void {
    history.scrollRestoration = 'manual';
    this.#key = history.state?.key ?? this.#mark();
    addEventListener('popstate', () => {
      this.#keep();
      this.#key = history.state?.key ?? this.#mark();
      this.url = new URL(location.href);
    });
    document.addEventListener('click', (event) => this.#click(event));
  }

  go(address: string, { replace = false }: { replace?: boolean } = {}): void {
    const next = new URL(address, location.href);
    if (next.href === location.href) return;
    this.#keep();
    if (replace) history.replaceState({ key: this.#key }, '', next);
    else {
      this.#key = crypto.randomUUID();
      history.pushState({ key: this.#key }, '', next);
    }
    this.url = next;
  }

  /** Changes query values in place. Typing replaces the entry, so that back leaves the page. */
  set(changes: Record<string, string | string[] | null>, { push = false }: { push?: boolean } = {}): void {
    this.go(withQuery(this.url, changes), { replace: !push });
  }

  /** The scroll position that the container `name` had when the reader left this entry. */
  keptScroll(name: string): number {
    return this.#kept.get(this.#key)?.scroll[name] ?? 0;
  }

  /** Everything that is kept of this entry. */
  kept(): Kept {
    return this.#kept.get(this.#key) ?? { scroll: {} };
  }

  /** The `data-focus-key` that had the focus when the reader left this entry. */
  keptFocus(): string | undefined {
    return this.#kept.get(this.#key)?.focus;
  }

  #mark(): string {
    const key = crypto.randomUUID();
    history.replaceState({ key }, '');
    return key;
  }

  #keep(): void {
    const scroll: Record<string, number> = {};
    for (const element of document.querySelectorAll<HTMLElement>('[data-scroll]')) {
      scroll[element.dataset.scroll ?? ''] = element.scrollTop;
    }
    const focus = document.activeElement?.closest<HTMLElement>('[data-focus-key]')?.dataset.focusKey;
    this.#kept.set(this.#key, { scroll, focus });
    const oldest = this.#kept.keys().next().value;
    if (this.#kept.size > KEPT_LIMIT && oldest !== undefined) this.#kept.delete(oldest);
  }

  #click(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element | null)?.closest('a');
    if (!link?.href || link.target !== '' || link.hasAttribute('download')) return;
    const url = new URL(link.href);
    if (url.origin !== location.origin || url.pathname.startsWith('/api')) return;
    event.preventDefault();
    this.go(url.pathname + url.search);
  }
}

export const router = new Router();
