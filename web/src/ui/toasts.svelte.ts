export interface Toast {
  id: number;
  text: string;
  kind: 'done' | 'fail';
  action?: { label: string; run: () => void };
}

const SHOWN_MS = 6_000;
const SHOWN_WITH_ACTION_MS = 12_000;
const LIMIT = 4;

/** Short notices at the edge of the page. What failed stays until it is closed. */
class Toasts {
  items = $state<Toast[]>([]);
  #next = 1;
  #timers = new Map<number, ReturnType<typeof setTimeout>>();

  done(text: string, action?: Toast['action']): void {
    this.#add({ id: this.#next++, text, kind: 'done', action }, action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
  }

  fail(text: string, action?: Toast['action']): void {
    this.#add({ id: this.#next++, text, kind: 'fail', action });
  }

  close(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.items = this.items.filter((toast) => toast.id !== id);
  }

  /** While the pointer or the focus is on a toast, it does not go away. */
  hold(id: number): void {
    clearTimeout(this.#timers.get(id));
  }

  release(toast: Toast): void {
    if (toast.kind === 'done') this.#timers.set(toast.id, setTimeout(() => this.close(toast.id), SHOWN_MS));
  }

  #add(toast: Toast, ms?: number): void {
    this.items = [...this.items.slice(-(LIMIT - 1)), toast];
    if (ms !== undefined) this.#timers.set(toast.id, setTimeout(() => this.close(toast.id), ms));
  }
}

export const toasts = new Toasts();
