import { expect, test } from 'vitest';
import { choose, matches, printKeys, yieldsToTyping, type Binding, type KeyPress } from './keys';

const press = (key: string, held: Partial<KeyPress> = {}): KeyPress => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
});

test('mod is the command key on a Mac and Ctrl elsewhere', () => {
  expect(matches('mod+k', press('k', { metaKey: true }), true)).toBe(true);
  expect(matches('mod+k', press('k', { ctrlKey: true }), true)).toBe(false);
  expect(matches('mod+k', press('K', { ctrlKey: true }), false)).toBe(true);
  expect(matches('mod+k', press('k', { metaKey: true, ctrlKey: true }), false)).toBe(false);
});

test('a bare character matches however the keyboard makes it', () => {
  expect(matches('?', press('?', { shiftKey: true }), false)).toBe(true);
  expect(matches('/', press('/'), false)).toBe(true);
  expect(matches('/', press('/', { ctrlKey: true }), false)).toBe(false);
});

test('whole keys need exactly the named modifiers', () => {
  expect(matches('alt+ArrowUp', press('ArrowUp', { altKey: true }), false)).toBe(true);
  expect(matches('alt+ArrowUp', press('ArrowUp', { altKey: true, shiftKey: true }), false)).toBe(false);
  expect(matches('Escape', press('Escape'), false)).toBe(true);
});

test('typing keeps bare characters, and lets the others through', () => {
  expect(yieldsToTyping('?')).toBe(true);
  expect(yieldsToTyping('mod+s')).toBe(false);
  expect(yieldsToTyping('Escape')).toBe(false);
});

test('the binding added last answers, unless it is not enabled or the reader types', () => {
  const binding = (label: string, keys: string, enabled = true): Binding => ({
    keys,
    label,
    group: '',
    run: () => {},
    enabled: () => enabled,
  });
  const all = [binding('first', 'mod+s'), binding('second', 'mod+s'), binding('off', 'mod+s', false), binding('slash', '/')];
  expect(choose(all, press('s', { ctrlKey: true }), true, false)?.label).toBe('second');
  expect(choose(all, press('/'), true, false)).toBeUndefined();
  expect(choose(all, press('/'), false, false)?.label).toBe('slash');
});

test('prints as the platform does', () => {
  expect(printKeys('mod+s', true)).toBe('⌘S');
  expect(printKeys('mod+s', false)).toBe('Ctrl S');
  expect(printKeys('alt+ArrowUp', false)).toBe('Alt ↑');
});
