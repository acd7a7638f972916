import { expect, test } from 'vitest';
import { DraftStore, type KeyValues } from './drafts';

const WHERE = { kind: 'persona', name: 'a', scope: 'shared' } as const;
const DAY = 24 * 3600 * 1000;

function shelf() {
  const map = new Map<string, unknown>();
  const values: KeyValues = {
    get: async (key) => map.get(key),
    set: async (key, value) => void map.set(key, structuredClone(value)),
    del: async (key) => void map.delete(key),
    entries: async () => [...map],
  };
  const open = new Set<string>();
  const clock = { now: 1000 };
  const tab = (name: string) => (open.add(name), new DraftStore(values, name, () => clock.now, async () => open));
  return { map, open, clock, tab };
}
const draft = (text: string) => ({ revision: 1, base: {}, doc: { text } });

test('a reload finds the draft of its tab', async () => {
  const { tab } = shelf();
  await tab('t1').keep(WHERE, draft('mine'));
  expect((await tab('t1').adopt(WHERE)).draft?.doc).toEqual({ text: 'mine' });
});

test('another open tab keeps its own, and is named', async () => {
  const { tab } = shelf();
  await tab('t1').keep(WHERE, draft('one'));
  const { draft: found, others } = await tab('t2').adopt(WHERE);
  expect(found).toBeUndefined();
  expect(others.map((other) => other.tab)).toEqual(['t1']);
});

test('a new tab takes over the newest orphan and names the others', async () => {
  const { tab, open, clock } = shelf();
  await tab('t1').keep(WHERE, draft('old'));
  clock.now = 2000;
  await tab('t2').keep(WHERE, draft('new'));
  open.clear();
  const third = tab('t3');
  const { draft: found, others } = await third.adopt(WHERE);
  expect(found?.doc).toEqual({ text: 'new' });
  expect(others.map((other) => other.tab)).toEqual(['t1']);
  expect((await third.adopt(WHERE)).draft?.doc).toEqual({ text: 'new' });
});

test('drafts of other entities and scopes are left alone', async () => {
  const { tab } = shelf();
  await tab('t1').keep({ ...WHERE, scope: 'project' }, draft('x'));
  await tab('t1').keep({ ...WHERE, name: 'b' }, draft('x'));
  expect(await tab('t1').adopt(WHERE)).toEqual({ others: [] });
});

test('a discarded draft comes back within a week, and is then swept', async () => {
  const { tab, clock, map } = shelf();
  const store = tab('t1');
  await store.keep(WHERE, draft('gone'));
  await store.discard(WHERE);
  expect((await store.adopt(WHERE)).draft).toBeUndefined();
  expect((await store.discarded(WHERE)).map((one) => one.doc)).toEqual([{ text: 'gone' }]);
  clock.now += 6 * DAY;
  await store.sweep();
  expect(await store.discarded(WHERE)).toHaveLength(1);
  clock.now += 2 * DAY;
  await store.sweep();
  expect(map.size).toBe(0);
});

test('sweeping touches only drafts', async () => {
  const { tab, map } = shelf();
  map.set('other', { at: 0 });
  await tab('t1').sweep();
  expect(map.has('other')).toBe(true);
});
