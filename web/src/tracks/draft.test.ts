import { beforeEach, expect, test } from 'vitest';
import { dropDraft, keepDraft, parseDraft, readDraft } from './draft';

beforeEach(() => {
  const kept = new Map<string, string>();
  globalThis.localStorage = { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => kept.set(key, value), removeItem: (key: string) => kept.delete(key) } as unknown as Storage;
});

test('what was typed is read again until it is dropped', () => {
  keepDraft({ epic: 'Pay by invoice' });
  keepDraft({ toml: 'title = "x"' });
  expect(readDraft()).toEqual({ epic: 'Pay by invoice', toml: 'title = "x"', drafted: false });
  dropDraft();
  expect(readDraft()).toEqual({ epic: '', toml: '', drafted: false });
});

test("a person's text takes the place of a model's", () => {
  keepDraft({ toml: 'a', drafted: true });
  expect(readDraft().drafted).toBe(true);
  keepDraft({ epic: 'b' });
  expect(readDraft().drafted).toBe(true);
  keepDraft({ toml: 'c' });
  expect(readDraft().drafted).toBe(false);
});

test.each([[null], ['not json'], ['null'], ['[]'], ['{"toml": 7, "epic": null, "drafted": "yes"}']])('%j is no draft', (text) => {
  expect(parseDraft(text)).toEqual({ toml: '', epic: '', drafted: false });
});
