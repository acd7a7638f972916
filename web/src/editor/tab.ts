import { createStore, del, entries, get, set } from 'idb-keyval';
import { DraftStore, keyOf, type Draft, type Where } from './drafts';

const KEY = 'masque-tab';
const LOCK = 'masque-tab/';
const LATE = 'masque-late/';

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

/** Keeps a draft while the page goes away, which no transaction of IndexedDB outlives. The next page of this
 * browser files it. */
export function keepLate(where: Where, draft: Pick<Draft, 'revision' | 'base' | 'doc'>): void {
  const tab = sessionStorage.getItem(KEY);
  if (tab === null) return;
  const kept: Draft = { ...where, ...draft, tab, at: Date.now() };
  try {
    localStorage.setItem(LATE + keyOf(where, tab), JSON.stringify(kept));
  } catch {
    // The browser's storage is full. All but the last words are in IndexedDB.
  }
}

async function fileLate(put: (key: string, value: unknown) => Promise<void>): Promise<void> {
  for (const key of Object.keys(localStorage).filter((one) => one.startsWith(LATE))) {
    await put(key.slice(LATE.length), JSON.parse(localStorage.getItem(key) ?? 'null'));
    localStorage.removeItem(key);
  }
}

let store: Promise<DraftStore> | undefined;

/** The drafts of this browser, opened when first needed. */
export function drafts(): Promise<DraftStore> {
  store ??= claimTab().then(async (tab) => {
    const shelf = createStore('masque', 'drafts');
    // What is written now is newer than what was kept late.
    const newer = (key: string) => localStorage.removeItem(LATE + key);
    const values = {
      get: (key: string) => get(key, shelf),
      set: (key: string, value: unknown) => (newer(key), set(key, value, shelf)),
      del: (key: string) => (newer(key), del(key, shelf)),
      entries: () => entries<string, unknown>(shelf),
    };
    await fileLate((key, value) => set(key, value, shelf));
    const opened = new DraftStore(values, tab, Date.now, openTabs);
    void opened.sweep();
    return opened;
  });
  return store;
}
