import type { Schemas } from '../api/client';
import type { Turn } from '../chat/turns';

/** A session as the page shows it: its stored state, then its events one by one. Pure. An event that was
 * applied before changes nothing, so a stream may be resumed anywhere without a lost or doubled turn. */

export type SessionView = Schemas['SessionView'];
export type Mode = SessionView['mode'];
export type Status = SessionView['status'];

export interface Ask {
  /** The session to answer at: a delegate's question names the delegate's. */
  session: string;
  callId: string;
  toolName: string;
  input: Record<string, unknown>;
}

export interface Tokens {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export type SessionEvent = Schemas['Event'];

export interface Cost {
  amount: number;
  unpriced: number;
}

export interface SessionLog {
  /** The id of the last event that counts, such as `12` or `12.3`. */
  seen: string;
  turns: readonly Turn[];
  open: string;
  thinking: string;
  status: Status;
  mode: Mode;
  /** The model that answers, and why. */
  model: string | undefined;
  reason: string | undefined;
  asks: readonly Ask[];
  tokens: Tokens;
  /** In the currency of the prices; calls of models without a price are counted. */
  cost: Cost;
  progress: Readonly<Record<string, string>>;
  /** What the reader should know about this run. */
  notes: readonly string[];
  error: string | undefined;
  /** How the last run ended, if this page saw it. */
  end: string | undefined;
  /** Grows whenever the stored session has to be read again, as after a plan. */
  stale: number;
}

/** Errors after which the run goes on. */
const GOES_ON: readonly string[] = ['persona', 'tools'];

export function fromView(view: SessionView, before?: SessionLog): SessionLog {
  const { usage } = view;
  return {
    seen: String(view.last_seq),
    turns: view.turns as Turn[],
    open: '',
    thinking: '',
    status: view.status,
    mode: view.mode,
    model: view.answered_by ?? undefined,
    reason: undefined,
    asks: view.approvals.map((one) => ({ session: one.session, callId: one.call_id, toolName: one.tool_name, input: one.input })),
    tokens: { input: usage.input_tokens, output: usage.output_tokens, cacheRead: usage.cache_read_tokens, cacheWrite: usage.cache_write_tokens },
    cost: { amount: view.cost, unpriced: view.unpriced_calls },
    progress: {},
    notes: before?.notes ?? [],
    error: before?.error,
    end: before?.end,
    stale: before?.stale ?? 0,
  };
}

/** Ids as numbers: `12.3` comes after `12` and `12.2`, and before `12.10` and `13`. */
export function isAfter(id: string, seen: string): boolean {
  const [major = 0, minor = 0] = id.split('.').map(Number);
  const [seenMajor = 0, seenMinor = 0] = seen.split('.').map(Number);
  return major !== seenMajor ? major > seenMajor : minor > seenMinor;
}

export function apply(log: SessionLog, id: string, event: SessionEvent): SessionLog {
  return isAfter(id, log.seen) ? { ...change(log, event), seen: id } : recalled(log, event);
}

/** An event that the stored session includes already. It adds only what a stored session does not say: how its
 * last run ended, and why a model was chosen. */
function recalled(log: SessionLog, event: SessionEvent): SessionLog {
  if (event.type === 'user' && (log.error !== undefined || log.end !== undefined)) return { ...log, error: undefined, end: undefined };
  if (event.type === 'error' && !GOES_ON.includes(event.code)) return { ...log, error: event.message };
  if (event.type === 'done') return { ...log, end: event.stopReason };
  if (event.type === 'model_selected') return { ...log, reason: event.reason };
  return log;
}

function change(log: SessionLog, event: SessionEvent): SessionLog {
  switch (event.type) {
    case 'user':
      return add({ ...log, status: 'running', error: undefined, end: undefined, notes: [] }, { type: 'user', id: event.id, content: event.content });
    case 'text_delta':
      return { ...log, status: 'running', open: log.open + event.content };
    case 'reasoning_delta':
      return { ...log, status: 'running', thinking: log.thinking + event.content };
    case 'text_complete':
      return { ...add(log, { type: 'assistant_text', id: event.id, content: event.content }), open: '', thinking: '' };
    case 'tool_call': {
      const { id, toolUseId, toolName, input } = event;
      return { ...add(log, { type: 'tool_call', id, toolUseId, toolName, input }), thinking: '' };
    }
    case 'tool_result': {
      const { id, toolUseId, output, isError, refusal } = event;
      const { [toolUseId]: _, ...progress } = log.progress;
      const asks = log.asks.filter((ask) => ask.callId !== toolUseId);
      return { ...add(log, { type: 'tool_result', id, toolUseId, output, isError: isError ?? undefined, refusal }), progress, asks };
    }
    case 'tool_event':
      return { ...log, progress: { ...log.progress, [event.toolUseId]: progressText(event.event) } };
    case 'approval_request': {
      const ask = { session: event.sessionId, callId: event.toolUseId, toolName: event.toolName, input: event.input };
      const others = log.asks.filter((one) => one.callId !== ask.callId || one.session !== ask.session);
      return { ...log, status: 'waiting', asks: [...others, ask] };
    }
    case 'approval_answered': {
      const asks = log.asks.filter((ask) => ask.callId !== event.toolUseId);
      return { ...log, asks, status: asks.length > 0 ? 'waiting' : 'running' };
    }
    case 'model_selected':
      return { ...log, status: 'running', model: `${event.provider}/${event.model}`, reason: event.reason };
    case 'model_escalated':
      return { ...log, notes: [...log.notes, `${event.from} failed (${event.message}), so ${event.to} answers.`] };
    case 'waiting':
      return { ...log, notes: [...log.notes, `${event.provider}/${event.model} failed (${event.message}); it is asked again in ${Math.ceil(event.seconds)} s.`] };
    case 'text_discarded': {
      const gone = new Set(event.turnIds);
      return { ...log, turns: log.turns.filter((turn) => !gone.has(turn.id)), open: '', thinking: '', stale: log.stale + 1 };
    }
    case 'usage': {
      const { tokens, cost } = log;
      return {
        ...log,
        cost: event.cost == null ? { ...cost, unpriced: cost.unpriced + 1 } : { ...cost, amount: cost.amount + event.cost },
        tokens: {
          input: tokens.input + event.inputTokens,
          output: tokens.output + event.outputTokens,
          cacheRead: tokens.cacheRead + event.cacheReadTokens,
          cacheWrite: tokens.cacheWrite + event.cacheWriteTokens,
        },
      };
    }
    case 'mode_changed':
      return { ...log, mode: event.mode, stale: log.stale + 1 };
    case 'plan_ready':
      return { ...log, stale: log.stale + 1 };
    case 'summary':
      return add(log, { type: 'summary', id: event.id, content: event.content, through: event.through });
    case 'notice':
      return { ...log, notes: [...log.notes, noticeText(event)] };
    case 'error':
      if (GOES_ON.includes(event.code)) return { ...log, notes: [...log.notes, event.message] };
      return { ...log, error: event.message };
    case 'done':
      return { ...log, status: 'idle', open: '', thinking: '', asks: [], progress: {}, end: event.stopReason, stale: log.stale + 1 };
    default:
      // A newer server may say more than this page knows.
      return log;
  }
}

/** A turn that is there already is not added again. */
function add(log: SessionLog, turn: Turn): SessionLog {
  return log.turns.some((other) => other.id === turn.id) ? log : { ...log, turns: [...log.turns, turn] };
}

function progressText(event: unknown): string {
  const { progress, total, message } = (event ?? {}) as { progress?: number; total?: number; message?: string };
  const share = progress === undefined ? '' : total ? `${Math.round((100 * progress) / total)} %` : String(progress);
  return [share, message].filter(Boolean).join(' ') || 'running';
}

function noticeText(event: Extract<SessionEvent, { type: 'notice' }>): string {
  if (event.code === 'says_nothing') return "The persona's prompt is empty.";
  if (event.code === 'unused_settings') {
    return `No project is open, so ${(event.fields ?? []).join(' and ')} has no effect.`;
  }
  if (event.code === 'files_shown') {
    const rest = event.left_out === 0 ? '' : `; ${event.left_out} left out`;
    return `The prompt has ${event.files} files of the project, ${event.tokens} of ${event.budget} tokens${rest}.`;
  }
  if (event.code === 'unfilled_placeholders') {
    const names = [...new Set((event.placeholders ?? []).map(({ variable }) => `{{${variable}}}`))];
    return `Not filled in: ${names.join(', ')}.`;
  }
  return event.code;
}

/** How a run ended, if that needs a word. */
export const ENDS: Record<string, string> = {
  max_tokens: "The answer reached the model's limit. Say “go on” to continue.",
  refusal: 'The model refused to answer.',
  cancelled: 'Stopped. What was said so far is kept.',
  max_tool_rounds: 'The persona reached its limit of rounds with tools. Say “go on” to continue.',
  loop_detected: 'The persona repeated the same tool calls and was stopped.',
  failed: 'No model answered.',
};

/** What a session has cost, and what of it is unknown. */
export function costText({ amount, unpriced }: Cost): string {
  const calls = unpriced === 1 ? 'one call' : `${unpriced} calls`;
  if (unpriced === 0) return `Cost: ${amount.toFixed(4)}`;
  return amount === 0 ? 'No cost: config.toml has no price for the model.' : `Cost: ${amount.toFixed(4)}, and ${calls} without a price`;
}
