import { describe, expect, test } from 'vitest';
import { after, isOverwritten, keyOf, sayChange, stillTrue, takenBack, type AgentChange, type Step } from './agent-changes';
import type { Doc } from './doc';

/** Revisions one after the other: `a` is the agent's, `p` a person's. */
function steps(start: Doc, ...made: [who: 'a' | 'p', doc: Doc][]): Step[] {
  let before = start;
  return made.map(([who, doc], at) => {
    const step = { revision: at + 2, front: who === 'a' ? 'editor' : 'http', reason: 'drier', before, after: doc };
    before = doc;
    return step;
  });
}

const said = (changes: readonly AgentChange[]) => changes.map((change) => `${keyOf(change)}: ${sayChange(change)}`);
const last = (list: readonly Step[]) => list.at(-1)!.after;

describe('changes of the agent', () => {
  test('are one for each field, and for each item of a list', () => {
    const made = steps(
      { system_prompt: 'old', traits: ['kind', 'loud'], parts: [{ name: 'tone', priority: 1 }] },
      ['a', { system_prompt: 'new', summary: 'short', traits: ['kind', 'dry'], parts: [{ name: 'tone', priority: 9 }] }],
    );
    expect(said(after([], made))).toEqual([
      'parts/tone: changed tone',
      'summary: wrote this',
      'system_prompt: changed this',
      'traits/loud: took loud out',
      'traits/dry: added dry',
    ]);
  });

  test('a list that only changed its order is one change', () => {
    const [change] = after([], steps({ traits: ['a', 'b'] }, ['a', { traits: ['b', 'a'] }]));
    expect(change).toMatchObject({ field: 'traits', before: ['a', 'b'], after: ['b', 'a'] });
    expect(change?.item).toBeUndefined();
  });

  test('of people are none', () => {
    expect(after([], steps({ summary: 'a' }, ['p', { summary: 'b' }]))).toEqual([]);
  });

  test('join: the first value before, the last value after', () => {
    const changes = after([], steps({ summary: 'a' }, ['a', { summary: 'b' }], ['a', { summary: 'c' }]));
    expect(changes).toMatchObject([{ before: 'a', after: 'c', revision: 3 }]);
  });

  test('a change that the agent took back itself is none', () => {
    expect(after([], steps({ summary: 'a' }, ['a', { summary: 'b' }], ['a', { summary: 'a' }]))).toEqual([]);
  });

  test('a field that a person saved since is no longer the agent’s; others stay', () => {
    const made = steps({}, ['a', { summary: 'b', detail: 'c' }], ['p', { summary: 'mine', detail: 'c' }]);
    expect(said(after([], made))).toEqual(['detail: wrote this']);
    expect(stillTrue(after([], made.slice(0, 1)), last(made))).toHaveLength(1);
  });
});

describe('undoing one', () => {
  const check = (before: Doc, now: Doc, key: string, saved: Doc = now) => {
    const change = after([], steps(before, ['a', now])).find((one) => keyOf(one) === key)!;
    return takenBack(saved, change);
  };

  test('a text comes back, and an empty one goes', () => {
    expect(check({ summary: 'a', detail: 'x' }, { summary: 'b', detail: 'y' }, 'summary')).toEqual({ summary: 'a', detail: 'y' });
    expect(check({}, { summary: 'b' }, 'summary')).toEqual({});
  });

  test('items of a list come and go, and later edits by hand stay', () => {
    expect(check({ traits: ['a'] }, { traits: ['a', 'b'] }, 'traits/b', { traits: ['a', 'b', 'mine'] })).toEqual({ traits: ['a', 'mine'] });
    expect(check({ traits: ['a', 'b'] }, { traits: ['a'] }, 'traits/b', { traits: ['a', 'mine'] })).toEqual({ traits: ['a', 'mine', 'b'] });
    expect(check({ parts: [{ name: 't', priority: 1 }] }, { parts: [{ name: 't', priority: 2 }] }, 'parts/t')).toEqual({ parts: [{ name: 't', priority: 1 }] });
  });

  test('a draft over the agent’s text is known as such', () => {
    const [change] = after([], steps({ summary: 'a' }, ['a', { summary: 'b' }]));
    expect(isOverwritten({ summary: 'b' }, change!)).toBe(false);
    expect(isOverwritten({ summary: 'mine' }, change!)).toBe(true);
  });
});
