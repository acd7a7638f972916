import { describe, expect, test } from 'vitest';
import { apply, fromView, isAfter, type SessionEvent, type SessionLog, type SessionView } from './log';

const VIEW: SessionView = {
  id: 's', persona: 'mentor', mode: 'build', status: 'idle', depth: 0, last_seq: 0,
  created_at: '', updated_at: '', turns: [], approvals: [],
  usage: { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 },
  cost: 0,
  unpriced_calls: 0,
};

/** A run with a tool that asks, as the server sends it. */
const RUN: [string, SessionEvent][] = [
  ['1', { type: 'user', id: 'u', content: 'write it' }],
  ['2', { type: 'model_selected', provider: 'p', model: 'm', reason: 'default' }],
  ['2.1', { type: 'reasoning_delta', content: 'hm' }],
  ['2.2', { type: 'text_delta', content: 'I ' }],
  ['2.3', { type: 'text_delta', content: 'write.' }],
  ['3', { type: 'text_complete', id: 't', content: 'I write.' }],
  ['4', { type: 'tool_call', id: 'c', toolUseId: 'x', toolName: 'write_file', input: { path: 'a' } }],
  ['5', { type: 'usage', provider: 'a', model: 'm', inputTokens: 10, outputTokens: 2, cacheReadTokens: 4, cacheWriteTokens: 0, cost: 0.25 }],
  ['6', { type: 'approval_request', sessionId: 's', toolUseId: 'x', toolName: 'write_file', input: { path: 'a' } }],
  ['7', { type: 'approval_answered', toolUseId: 'x', approved: true }],
  ['8', { type: 'tool_result', id: 'r', toolUseId: 'x', output: 'ok' }],
  ['9.1', { type: 'text_delta', content: 'Done' }],
  ['10', { type: 'text_complete', id: 'v', content: 'Done.' }],
  ['11', { type: 'usage', provider: 'a', model: 'm', inputTokens: 20, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }],
  ['12', { type: 'done', stopReason: 'end_turn' }],
];

const play = (events: [string, SessionEvent][], log: SessionLog = fromView(VIEW)) =>
  events.reduce((now, [id, event]) => apply(now, id, event), log);
const upTo = (id: string) => play(RUN.slice(0, RUN.findIndex(([one]) => one === id) + 1));

test('ids are ordered by number, not by text', () => {
  expect(isAfter('12.10', '12.9')).toBe(true);
  expect(isAfter('13', '12.99')).toBe(true);
  expect(isAfter('12.1', '12')).toBe(true);
  expect(isAfter('12', '12')).toBe(false);
  expect(isAfter('9', '10')).toBe(false);
});

describe('a run', () => {
  test('shows text on its way, then the whole', () => {
    expect(upTo('2.3')).toMatchObject({ open: 'I write.', thinking: 'hm', status: 'running', model: 'p/m' });
    expect(upTo('3')).toMatchObject({ open: '', thinking: '' });
  });

  test('waits for an answer and goes on', () => {
    expect(upTo('6')).toMatchObject({ status: 'waiting', asks: [{ callId: 'x', toolName: 'write_file' }] });
    expect(upTo('7')).toMatchObject({ status: 'running', asks: [] });
  });

  test('ends with everything that was said', () => {
    const end = play(RUN);
    expect(end.turns.map((turn) => turn.type)).toEqual(['user', 'assistant_text', 'tool_call', 'tool_result', 'assistant_text']);
    expect(end).toMatchObject({ status: 'idle', end: 'end_turn', open: '', tokens: { input: 30, output: 3, cacheRead: 4 } });
  });
});

describe('a dropped connection', () => {
  test('anywhere in a run, resumed from the last event or before it, loses and doubles nothing', () => {
    const whole = play(RUN);
    for (let cut = 0; cut <= RUN.length; cut += 1) {
      for (let again = 0; again <= cut; again += 1) {
        expect(play(RUN.slice(again), play(RUN.slice(0, cut)))).toEqual(whole);
      }
    }
  });

  test('may lose pieces of text, which the whole text brings', () => {
    const stored = RUN.filter(([id]) => !id.includes('.'));
    expect(play(stored).turns).toEqual(play(RUN).turns);
    const partly = play(stored.slice(2), upTo('2.2'));
    expect(partly.turns).toEqual(play(RUN).turns);
    expect(partly.open).toBe('');
  });

  test('a session read again in between continues with its stream', () => {
    const before = upTo('4');
    const read = fromView({ ...VIEW, last_seq: 6, status: 'waiting', turns: before.turns as SessionView['turns'], approvals: [{ session: 's', call_id: 'x', tool_name: 'write_file', input: {}, asked_at: '' }] }, before);
    expect(play(RUN, read).turns).toEqual(play(RUN).turns);
  });
});

test('taking back removes turns and the text on its way', () => {
  const undone = apply(play(RUN), '13', { type: 'text_discarded', turnIds: ['u', 't', 'c', 'r', 'v'] });
  expect(undone.turns).toEqual([]);
  const retried = apply(upTo('2.3'), '3', { type: 'text_discarded', turnIds: [] });
  expect(retried.open).toBe('');
});

test('an error that ends the run is shown, one that does not is a note', () => {
  expect(apply(upTo('2'), '3', { type: 'error', code: 'transport', message: 'dead' }).error).toBe('dead');
  const warned = apply(upTo('2'), '3', { type: 'error', code: 'tools', message: 'no server' });
  expect(warned).toMatchObject({ error: undefined, notes: ['no server'] });
  expect(apply(warned, '4', { type: 'user', id: 'w', content: 'again' }).notes).toEqual([]);
});

test("a delegate's question names its own session", () => {
  const asked = apply(upTo('4'), '5', { type: 'approval_request', sessionId: 'other', toolUseId: 'y', toolName: 'run_command', input: {} });
  expect(asked.asks).toEqual([{ session: 'other', callId: 'y', toolName: 'run_command', input: {} }]);
});

test('an event of a newer server moves on and changes nothing else', () => {
  const log = upTo('3');
  expect(apply(log, '4', { type: 'sparkle' } as unknown as SessionEvent)).toEqual({ ...log, seen: '4' });
});

test('a session that is read again says how its last run ended, and counts nothing twice', () => {
  const read = fromView({ ...VIEW, last_seq: 4, usage: { ...VIEW.usage, input_tokens: 10 } });
  const tail: [string, SessionEvent][] = [
    ['1', { type: 'error', code: 'transport', message: 'an older run' }],
    ['2', { type: 'user', id: 'u', content: 'again' }],
    ['3', { type: 'usage', provider: 'a', model: 'm', inputTokens: 10, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 }],
    ['4', { type: 'done', stopReason: 'cancelled' }],
  ];
  expect(play(tail, read)).toEqual({ ...read, end: 'cancelled' });
  expect(play([['3', { type: 'error', code: 'rejected', message: 'no' }], ['4', { type: 'done', stopReason: 'failed' }]], read)).toEqual({ ...read, error: 'no', end: 'failed' });
});
