import type { Kind } from './client';
import type { ServerEvent } from './sse';
import { follow, type StreamState } from './stream';

/** A mistake in a personas.toml, as `GET /api/events` reports it. */
export interface FileProblem {
  level: string;
  path: string;
  line: number;
  column: number;
  source_line?: string;
  cause?: string;
  message: string;
  hint?: string;
  entry?: { kind: Kind; name: string };
}

export type LibraryEvent =
  | { type: 'change'; kind: Kind; name: string; listed: boolean }
  | { type: 'everything' };

type Listener = (event: LibraryEvent) => void;
type Message = { id: string; event: string; data: string } | { state: StreamState };

/** Changes of the library as they happen. One stream serves all tabs: browsers open six connections
 * to a host, so each tab with a stream of its own would soon block every request. The tab that holds
 * the lock reads; the others hear from it. */
class Changes {
  state = $state<StreamState>('connecting');
  problems = $state<FileProblem[]>([]);
  #listeners = new Set<Listener>();
  #lastId = '';
  #started = false;

  /** Calls `listener` at every change until the returned function is called. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    const channel = new BroadcastChannel('masque-changes');
    channel.onmessage = ({ data }: MessageEvent<Message | { ask: true }>) => {
      if ('ask' in data) {
        if (this.#leads) channel.postMessage({ problems: $state.snapshot(this.problems), state: this.state });
      } else this.#take(data as Message);
    };
    channel.postMessage({ ask: true });
    const run = () => {
      this.#leads = true;
      return follow('/api/events', {
        signal: new AbortController().signal,
        lastId: this.#lastId,
        onEvent: (event) => (this.#take(event), channel.postMessage(event)),
        onState: (state) => (this.#take({ state }), channel.postMessage({ state })),
      });
    };
    if (navigator.locks) void navigator.locks.request('masque-changes', run);
    else void run();
  }

  #leads = false;

  #take(message: Message | ServerEvent): void {
    if ('problems' in message) this.problems = message.problems as FileProblem[];
    if ('state' in message) {
      this.state = message.state;
      return;
    }
    if (!('event' in message)) return;
    this.#lastId = message.id;
    const data = message.data === '' ? {} : JSON.parse(message.data);
    if (message.event === 'problems') this.problems = data.problems ?? [];
    else if (message.event === 'change') this.#tell({ type: 'change', ...data });
    else if (message.event === 'everything') this.#tell({ type: 'everything' });
  }

  #tell(event: LibraryEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

export const changes = new Changes();
