import { api, ask } from '../api/client';
import { Problem, asProblem, problemOf, unreachable } from '../api/problem';
import type { ServerEvent } from '../api/sse';
import { follow, type StreamState } from '../api/stream';
import { sessionList } from './list.svelte';
import { apply, fromView, isAfter, type Mode, type SessionEvent, type SessionLog, type SessionView } from './log';

const SEND_TRIES = 3;
/** Entries of the log that a page reads again when it opens: the end of the last run is among them. */
const RECALLED = 16;
/** A hidden tab gives its connection back after this time: browsers open six to a host. */
const HIDDEN_MS = 60_000;

/** One session that the page shows: what the server stored, then its events as they come. */
export class OpenSession {
  view = $state.raw<SessionView | undefined>();
  log = $state.raw<SessionLog | undefined>();
  problem = $state.raw<Problem | undefined>();
  connection = $state<StreamState>('connecting');
  /** A message on its way: its event has not come back yet. */
  pending = $state.raw<{ content: string; after: number } | undefined>();
  sends = $state(0);

  readonly id: string;
  #now: SessionLog | undefined;
  #frame = 0;
  #abort = new AbortController();
  #stream: AbortController | undefined;
  #hidden: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string) {
    this.id = id;
  }

  async start(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      if (!this.#abort.signal.aborted) this.problem = asProblem(error);
      return;
    }
    document.addEventListener('visibilitychange', this.#visibility, { signal: this.#abort.signal });
    void this.#follow(String(Math.max(0, (this.view?.last_seq ?? 0) - RECALLED)));
  }

  close(): void {
    this.#abort.abort();
    this.#stream?.abort();
    clearTimeout(this.#hidden);
    cancelAnimationFrame(this.#frame);
  }

  /** Sends a message. The run goes on without this page, and its events come by the stream, so the answer
   * of this request is not read. A connection that breaks is tried again under the same key. */
  async send(content: string): Promise<void> {
    this.sends += 1;
    this.pending = { content, after: this.#now?.turns.length ?? 0 };
    try {
      await sendMessage(this.id, content);
    } catch (error) {
      this.pending = undefined;
      throw asProblem(error);
    }
    void sessionList.refresh();
  }

  async cancel(): Promise<void> {
    await ask(api.POST('/api/sessions/{id}/cancel', { params: { path: { id: this.id } } }));
  }

  /** Takes the last message back and returns it. */
  async undo(): Promise<string> {
    const { data } = await ask(api.POST('/api/sessions/{id}/undo', { params: { path: { id: this.id } } }));
    return data.content;
  }

  async setMode(mode: Mode): Promise<void> {
    await ask(api.PATCH('/api/sessions/{id}/mode', { params: { path: { id: this.id } }, body: { mode } }));
    await this.reread();
  }

  async update(body: { model?: string | null; persona?: string }): Promise<void> {
    await ask(api.PATCH('/api/sessions/{id}', { params: { path: { id: this.id } }, body: body as { model?: string } }));
    await this.reread();
  }

  async decidePlan(decision: 'approve' | 'send_back', hash: string): Promise<void> {
    await ask(api.POST('/api/sessions/{id}/plan', { params: { path: { id: this.id } }, body: { decision, hash } }));
    await this.reread();
  }

  async remove(): Promise<void> {
    await ask(api.DELETE('/api/sessions/{id}', { params: { path: { id: this.id } } }));
    await sessionList.refresh();
  }

  /** Reads what events do not carry: the plan, the title, the model that was asked for. */
  async reread(): Promise<void> {
    const { data } = await ask(api.GET('/api/sessions/{id}', { params: { path: { id: this.id } }, signal: this.#abort.signal }));
    this.view = data;
  }

  async #read(): Promise<void> {
    await this.reread();
    if (this.view) this.#set(fromView(this.view, this.#now));
    this.problem = undefined;
  }

  async #follow(from = this.#now?.seen ?? '0'): Promise<void> {
    const stream = new AbortController();
    this.#stream = stream;
    await follow(`/api/sessions/${this.id}/events`, {
      signal: stream.signal,
      lastId: from,
      onEvent: (event) => this.#hear(event),
      onState: (state, problem) => {
        if (stream.signal.aborted) return;
        this.connection = state;
        if (problem && problem.status >= 400 && problem.status < 500) this.#refused(problem);
      },
    });
  }

  /** The server does not know this place of the log: reads the session again, or says that it is gone. */
  #refused(problem: Problem): void {
    if (problem.status !== 400) {
      this.problem = problem;
      return;
    }
    void this.#read().then(
      () => this.#follow(),
      (error) => (this.problem = asProblem(error)),
    );
  }

  #visibility = (): void => {
    clearTimeout(this.#hidden);
    if (document.hidden) this.#hidden = setTimeout(() => this.#stream?.abort(), HIDDEN_MS);
    else if (this.#stream?.signal.aborted) void this.#follow();
  };

  #hear(event: ServerEvent): void {
    if (!this.#now) return;
    const before = this.#now;
    const data = JSON.parse(event.data) as SessionEvent;
    const next = apply(before, event.id, data);
    if (next === before) return;
    if (!isAfter(event.id, before.seen)) {
      this.#set(next);
      return;
    }
    if (data.type === 'user') this.pending = undefined;
    if (data.type === 'text_delta' || data.type === 'reasoning_delta') {
      this.#now = next;
      if (this.#frame === 0) this.#frame = requestAnimationFrame(() => ((this.#frame = 0), (this.log = this.#now)));
      return;
    }
    this.#set(next);
    if (next.stale !== before.stale) void this.reread().catch(() => {});
    if (next.status !== before.status) void sessionList.refresh();
  }

  #set(log: SessionLog): void {
    this.#now = log;
    this.log = log;
  }
}

/** Sends a message without reading its answer. */
export async function sendMessage(id: string, content: string): Promise<void> {
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream', 'idempotency-key': crypto.randomUUID() };
  // `ask` waits for permission even while no page watches.
  const body = JSON.stringify({ content, detached: true, approve: 'ask' });
  for (let tries = 1; ; tries += 1) {
    const abort = new AbortController();
    try {
      const response = await fetch(`/api/sessions/${id}/messages`, { method: 'POST', headers, body, signal: abort.signal });
      if (!response.ok) throw await problemOf(response);
      abort.abort();
      return;
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (tries === SEND_TRIES) throw unreachable();
      await new Promise((resolve) => setTimeout(resolve, 400 * tries));
    }
  }
}

export interface Beginning {
  persona: string;
  mode: Mode;
  model?: string;
  message: string;
}

/** Starts a session, sends the first message if there is one, and returns its id. */
export async function begin({ persona, mode, model, message }: Beginning): Promise<string> {
  const { data } = await ask(api.POST('/api/sessions', { body: { persona, mode, overrides: {}, greeting: 'first', ...(model ? { model } : {}) } }));
  if (message.trim() !== '') await sendMessage(data.id, message.trim());
  void sessionList.refresh();
  return data.id;
}
