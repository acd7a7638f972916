import { expect, test } from 'vitest';
import { began, changesOf, emptyLog, heard, type AgentEvent, type EditLog } from './edits';
import { aboutCall, outcome, rowsOf } from './turns';

const call = (id: string, toolName: string): AgentEvent => ({ type: 'tool_call', id, toolUseId: `use_${id}`, toolName, input: {} });
const result = (id: string, of: string, isError?: boolean): AgentEvent => ({
  type: 'tool_result', id, toolUseId: `use_${of}`, output: 'ok', isError,
});
const play = (events: AgentEvent[], log: EditLog = began(emptyLog, 'u', 'Rename it')) => events.reduce(heard, log);

test('a stream becomes turns, and the text on its way is replaced by the whole', () => {
  const log = play([
    { type: 'text_delta', content: 'I re' },
    { type: 'text_delta', content: 'name' },
    { type: 'text_complete', id: 't', content: 'I rename it.' },
    call('c', 'update_persona_name'),
    result('r', 'c'),
    { type: 'text_delta', content: 'Done' },
  ]);
  expect(log.turns.map((turn) => turn.type)).toEqual(['user', 'assistant_text', 'tool_call', 'tool_result']);
  expect(log).toMatchObject({ open: 'Done', running: true });
  expect(heard(log, { type: 'done' })).toMatchObject({ open: '', running: false, error: undefined });
});

test('an error ends the run and keeps the turns', () => {
  const log = play([{ type: 'text_complete', id: 't', content: 'x' }, { type: 'error', message: 'no model answered' }]);
  expect(log).toMatchObject({ running: false, error: 'no model answered' });
  expect(log.turns.length).toBe(2);
  expect(began(log, 'v', 'again').error).toBeUndefined();
});

test('a turn that history has already is not doubled', () => {
  const complete: AgentEvent = { type: 'text_complete', id: 't', content: 'x' };
  expect(play([complete, complete]).turns.length).toBe(2);
});

test('an event of a newer server changes nothing', () => {
  const log = play([]);
  expect(heard(log, { type: 'sparkle' } as unknown as AgentEvent)).toBe(log);
});

test('changes are the calls of the last message that wrote', () => {
  const first = play([call('a', 'update_system_prompt'), result('ra', 'a'), { type: 'done' }]);
  expect(changesOf(first.turns)).toBe(1);
  const second = play(
    [call('b', 'get_persona'), result('rb', 'b'), call('c', 'update_persona_name'), result('rc', 'c', true), call('d', 'create_test_input'), result('rd', 'd'), call('e', 'undo'), result('re', 'e')],
    began(first, 'v', 'more'),
  );
  expect(changesOf(second.turns)).toBe(1);
  expect(changesOf([])).toBe(0);
});

test('rows join calls with their results', () => {
  const log = play([call('a', 'get_persona'), call('b', 'update_persona_name'), result('rb', 'b', true), result('ra', 'a')]);
  const rows = rowsOf(log.turns);
  expect(rows.map((row) => (row.type === 'call' ? `${row.call.toolName} ${outcome(row.result)}` : row.type))).toEqual([
    'user', 'get_persona done', 'update_persona_name failed',
  ]);
  expect(outcome(undefined)).toBe('waiting');
});

test('an answer keeps its row when its text is complete', () => {
  const user = began(emptyLog, 'u', 'hi');
  const before = rowsOf(user.turns, 'I re').at(-1);
  const after = rowsOf(play([{ type: 'text_complete', id: 't', content: 'I rename it.' }], user).turns).at(-1);
  expect(before).toMatchObject({ type: 'assistant', content: 'I re', live: true });
  expect(after?.key).toBe(before?.key);
});

test('a call is named by what it is about', () => {
  expect(aboutCall({ content: 'text', path: 'src/main.rs' })).toBe('src/main.rs');
  expect(aboutCall({ systemPrompt: 'You are\nkind.' })).toBe('You are');
  expect(aboutCall({ n: 3 })).toBe('');
  expect(aboutCall({ command: 'x'.repeat(200) })).toHaveLength(80);
});
