import type { Schemas } from '../api/client';
import type { Turn } from './turns';

/** The conversation with the editing agent, as a pure log: the six events of its stream in, turns out. */
export type AgentEvent = Schemas['ChatEvent'];

export interface EditLog {
  turns: readonly Turn[];
  /** Text of the answer that is not complete yet. */
  open: string;
  /** True from sending until `done`, `error` or the end of the stream. */
  running: boolean;
  error: string | undefined;
}

export const emptyLog: EditLog = { turns: [], open: '', running: false, error: undefined };

export function began(log: EditLog, id: string, content: string): EditLog {
  return { turns: [...log.turns, { type: 'user', id, content }], open: '', running: true, error: undefined };
}

export function heard(log: EditLog, event: AgentEvent): EditLog {
  switch (event.type) {
    case 'text_delta':
      return { ...log, open: log.open + event.content };
    case 'text_complete':
      return { ...add(log, { type: 'assistant_text', id: event.id, content: event.content }), open: '' };
    case 'tool_call': {
      const { id, toolUseId, toolName, input } = event;
      return add(log, { type: 'tool_call', id, toolUseId, toolName, input: input ?? {} });
    }
    case 'tool_result': {
      const { id, toolUseId, output, isError } = event;
      return add(log, { type: 'tool_result', id, toolUseId, output, isError: isError ?? undefined });
    }
    case 'done':
      return { ...log, running: false, open: '' };
    case 'error':
      return { ...log, running: false, open: '', error: event.message };
    default:
      // A newer server may say more than this page knows.
      return log;
  }
}

/** A turn that is there already is not added again, so that history and stream may overlap. */
function add(log: EditLog, turn: Turn): EditLog {
  return log.turns.some((other) => other.id === turn.id) ? log : { ...log, turns: [...log.turns, turn] };
}

const READS = /^(get|list|inspect|search|load|explain|preview|lint|diff|history|compare|run_tests|test)(_|$)/;

/** The calls since the last message that changed something: done, and not by a tool that only reads. */
export function changesOf(turns: readonly Turn[]): number {
  const from = turns.findLastIndex((turn) => turn.type === 'user');
  const failed = new Set<string>();
  const done = new Set<string>();
  for (const turn of turns.slice(from + 1)) {
    if (turn.type === 'tool_result') (turn.isError ? failed : done).add(turn.toolUseId);
  }
  return turns
    .slice(from + 1)
    .filter((turn) => turn.type === 'tool_call' && done.has(turn.toolUseId) && !READS.test(turn.toolName) && turn.toolName !== 'undo').length;
}
