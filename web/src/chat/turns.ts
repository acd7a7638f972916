import type { Schemas } from '../api/client';

/** A turn that this page made has no time yet. */
type Local<T> = T extends { createdAt: string } ? Omit<T, 'createdAt'> & { createdAt?: string } : never;

/** The turns of a conversation, as `GET /api/sessions/{id}` has them. */
export type Turn = Local<Schemas['Turn']>;

/** A turn of a conversation with the editing agent, as `GET /api/persona-agent/history` has it. */
export function turnOf(turn: Schemas['ChatTurn']): Turn {
  return turn.type === 'tool_result' ? { ...turn, isError: turn.isError ?? undefined } : turn;
}

export type CallTurn = Extract<Turn, { type: 'tool_call' }>;
export type ResultTurn = Extract<Turn, { type: 'tool_result' }>;

/** A line of the transcript: a text, or a call with its result. */
export type Row =
  | { key: string; type: 'user' | 'assistant' | 'summary'; content: string; live?: boolean }
  | { key: string; type: 'call'; call: CallTurn; result: ResultTurn | undefined };

/** Each call with its result in one row. A result without a call is left out: nothing names it. `open` is
 * text on its way. Answers are named by their number, so that an answer keeps its place on the page, its
 * height and its selection when its text is complete. */
export function rowsOf(turns: readonly Turn[], open = ''): Row[] {
  const results = new Map<string, ResultTurn>();
  for (const turn of turns) if (turn.type === 'tool_result') results.set(turn.toolUseId, turn);
  const rows: Row[] = [];
  let answers = 0;
  for (const turn of turns) {
    if (turn.type === 'tool_call') rows.push({ key: turn.id, type: 'call', call: turn, result: results.get(turn.toolUseId) });
    else if (turn.type === 'user') rows.push({ key: turn.id, type: 'user', content: turn.content });
    else if (turn.type === 'assistant_text') rows.push({ key: `answer-${answers++}`, type: 'assistant', content: turn.content });
    else if (turn.type === 'summary') rows.push({ key: turn.id, type: 'summary', content: turn.content });
  }
  if (open !== '') rows.push({ key: `answer-${answers}`, type: 'assistant', content: open, live: true });
  return rows;
}

const SHORT = 80;

/** What a call is about, in a few words: its path, command, name or first text. */
export function aboutCall(input: Record<string, unknown>): string {
  for (const field of ['path', 'command', 'query', 'url', 'name', 'id', 'persona', 'part']) {
    const value = input[field];
    if (typeof value === 'string' && value !== '') return oneLine(value);
  }
  const text = Object.values(input).find((value): value is string => typeof value === 'string' && value !== '');
  return text === undefined ? '' : oneLine(text);
}

export function oneLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > SHORT ? `${line.slice(0, SHORT - 1)}…` : line;
}

/** Why a tool did not run to its end, in the reader's words. */
export const REFUSALS: Record<string, string> = {
  nobody_to_ask: 'refused: it needs permission, and no person could be asked',
  rejected_by_user: 'refused by you',
  not_offered: 'refused: the persona has no such tool',
  plan_mode: 'refused: the session plans, and this tool acts',
  malformed_arguments: 'refused: its arguments are not JSON',
  invalid_arguments: 'refused: its arguments do not fit the tool',
  too_many_calls: 'refused: too many calls in one answer',
  run_ended: 'not run: the answer ended first',
  run_failed: 'not run: the model failed first',
  cancelled: 'stopped',
  interrupted: 'interrupted: the server stopped; it may have run in part',
};

/** How a call ended, in a word for the fold. */
export function outcome(result: ResultTurn | undefined): 'waiting' | 'done' | 'failed' | 'refused' {
  if (!result) return 'waiting';
  if (result.refusal && result.isError !== false) return 'refused';
  return result.isError ? 'failed' : 'done';
}
