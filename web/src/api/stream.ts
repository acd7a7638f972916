import { Problem, asProblem, isAbort, problemOf } from './problem';
import { SseParser, backoffMs, type ServerEvent } from './sse';

export type StreamState = 'connecting' | 'open' | 'lost';

/** Sends one request and yields the events of its answer, to the end of the stream. Throws a `Problem`. */
export async function* stream(
  path: string,
  init: RequestInit = {},
  parser = new SseParser(),
  onOpen: () => void = () => {},
): AsyncGenerator<ServerEvent> {
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers: { accept: 'text/event-stream', ...init.headers } });
  } catch (error) {
    if (isAbort(error)) return;
    throw asProblem(error);
  }
  if (!response.ok || response.body === null) throw await problemOf(response);
  onOpen();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(value);
    }
  } catch (error) {
    if (isAbort(error)) return;
    throw asProblem(error);
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Sends a JSON body and yields the events of the answer. */
export function streamPost(path: string, body: unknown, signal?: AbortSignal): AsyncGenerator<ServerEvent> {
  const headers = { 'content-type': 'application/json' };
  return stream(path, { method: 'POST', body: JSON.stringify(body), headers, signal });
}

export interface FollowOptions {
  signal: AbortSignal;
  onEvent: (event: ServerEvent) => void;
  onState?: (state: StreamState, problem?: Problem) => void;
  /** Resume after this event. */
  lastId?: string;
  /** Called after a clean end; true ends the following. Without it, the stream is opened again. */
  finished?: () => boolean;
}

/** Follows a stream for as long as the signal allows, and resumes with `Last-Event-ID` after every
 * loss. Returns when the signal aborts, when `finished` says so, or when the server refuses (4xx). */
export async function follow(path: string, options: FollowOptions): Promise<void> {
  const kept = { lastId: options.lastId ?? '', retryMs: undefined as number | undefined };
  let attempt = 0;
  while (!options.signal.aborted) {
    options.onState?.('connecting');
    const current = new SseParser();
    current.lastId = kept.lastId;
    let problem: Problem | undefined;
    try {
      const headers: Record<string, string> = kept.lastId === '' ? {} : { 'last-event-id': kept.lastId };
      const opened = () => options.onState?.('open');
      for await (const event of stream(path, { headers, signal: options.signal }, current, opened)) {
        attempt = 0;
        kept.lastId = event.id;
        options.onEvent(event);
      }
      if (options.finished?.()) return;
    } catch (error) {
      problem = asProblem(error);
      if (problem.status >= 400 && problem.status < 500) {
        options.onState?.('lost', problem);
        return;
      }
    }
    kept.retryMs = current.retryMs ?? kept.retryMs;
    if (options.signal.aborted) return;
    options.onState?.('lost', problem);
    attempt += 1;
    await pause(backoffMs(attempt, kept.retryMs, Math.random()), options.signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
