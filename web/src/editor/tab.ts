import { createStore, del, entries, get, set } from 'idb-keyval';
import { DraftStore } from './drafts';

const KEY = 'masque-tab';
const LOCK = 'masque-tab/';

/** An id of this tab that survives a reload. A duplicated tab inherits the id with the session storage,
 * so the id is only ours while we hold its lock. */
async function claimTab(): Promise<string> {
  const kept = sessionStorage.getItem(KEY);
  if (kept !== null && (await hold(kept))) return kept;
  const fresh = crypto.randomUUID();
  sessionStorage.setItem(KEY, fresh);
  await hold(fresh);
  return fresh;
}

/** Holds the lock of a tab for as long as the page lives; false if another tab has it. */
function hold(tab: string): Promise<boolean> {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    const take = (tries: number): void => {
      void navigator.locks.request(LOCK + tab, { ifAvailable: true }, (lock) => {
        if (lock === null) {
          // A reload may be faster than the end of the page before it.
          if (tries > 0) setTimeout(() => take(tries - 1), 50);
          else resolve(false);
          return undefined;
        }
        resolve(true);
        return new Promise(() => {});
      });
    };
    take(4);
  });
}

async function openTabs(): Promise<ReadonlySet<string>> {
  const locks = (await navigator.locks?.query())?.held ?? [];
  return new Set(locks.flatMap((lock) => (lock.name?.startsWith(LOCK) ? [lock.name.slice(LOCK.length)] : [])));
}

let store: Promise<DraftStore> | undefined;

/** The drafts of this browser, opened when first needed. */
export function drafts(): Promise<DraftStore> {
  store ??= claimTab().then((tab) => {
    const shelf = createStore('masque', 'drafts');
    const values = {
      get: (key: string) => get(key, shelf),
      set: (key: string, value: unknown) => set(key, value, shelf),
      del: (key: string) => del(key, shelf),
      entries: () => entries<string, unknown>(shelf),
    };
    const opened = new DraftStore(values, tab, Date.now, openTabs);
    void opened.sweep();
    return opened;
  });
  return store;
}
