import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { restore } from './restore';

let frames: (() => void)[] = [];
let time = 0;
const listeners = new Map<string, () => void>();

beforeEach(() => {
  frames = [];
  time = 0;
  listeners.clear();
  vi.stubGlobal('requestAnimationFrame', (work: () => void) => frames.push(work));
  vi.stubGlobal('cancelAnimationFrame', () => (frames = []));
  vi.stubGlobal('addEventListener', (name: string, listener: () => void) => listeners.set(name, listener));
  vi.stubGlobal('removeEventListener', (name: string) => listeners.delete(name));
  vi.stubGlobal('CSS', { escape: (text: string) => text });
});
afterEach(() => vi.unstubAllGlobals());

/** A box that scrolls no further than its content is high. */
function box(height: number) {
  let top = 0;
  return { height, get scrollTop() { return top; }, set scrollTop(to: number) { top = Math.min(to, this.height); } };
}

function pass(ms: number): void {
  time += ms;
  for (const frame of frames.splice(0)) frame();
}

const rootOf = (found: unknown) => ({ querySelector: () => found }) as unknown as HTMLElement;

test('waits until the content is high enough, and holds the place while more loads', () => {
  const list = box(100);
  restore(rootOf(list), { scroll: { list: 900 } }, () => time);
  pass(16);
  expect(list.scrollTop).toBe(100);
  list.height = 2_000;
  pass(16);
  expect(list.scrollTop).toBe(900);
  list.scrollTop = 1_300;
  pass(16);
  expect(list.scrollTop).toBe(900);
  pass(700);
  expect(frames).toHaveLength(0);
});

test('ends at the first input of the reader', () => {
  const list = box(2_000);
  restore(rootOf(list), { scroll: { list: 900 } }, () => time);
  pass(16);
  listeners.get('wheel')?.();
  list.scrollTop = 40;
  pass(16);
  expect(list.scrollTop).toBe(40);
});

test('gives up after a while, and does nothing without a place', () => {
  restore(rootOf(box(10)), { scroll: { list: 900 } }, () => time);
  pass(3_000);
  expect(frames).toHaveLength(0);
  restore(rootOf(box(10)), { scroll: { list: 0 } }, () => time);
  expect(frames).toHaveLength(0);
});
