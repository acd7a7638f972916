/** One event of a stream. `data` is the joined text; `json()` of the caller's choice comes later. */
export interface ServerEvent {
  id: string;
  event: string;
  data: string;
}

/** Splits a text stream into Server-Sent Events. Pure: bytes arrive in any pieces. */
export class SseParser {
  /** The id of the last whole event: one that broke off in the middle has to come again. */
  lastId = '';
  retryMs: number | undefined;
  #id: string | undefined;
  #rest = '';
  #event = '';
  #data: string[] = [];
  #sawCr = false;

  push(chunk: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    // A CR at the end of a chunk may be the first half of CRLF.
    if (this.#sawCr && chunk.startsWith('\n')) chunk = chunk.slice(1);
    this.#sawCr = chunk.endsWith('\r');
    const lines = (this.#rest + chunk).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = this.#line(line);
      if (event) events.push(event);
    }
    return events;
  }

  #line(line: string): ServerEvent | undefined {
    if (line === '') return this.#dispatch();
    if (line.startsWith(':')) return undefined;
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? '' : line.slice(colon + 1);
    if (value.startsWith(' ')) value = value.slice(1);
    if (field === 'event') this.#event = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
    return undefined;
  }

  #dispatch(): ServerEvent | undefined {
    const data = this.#data;
    const event = this.#event || 'message';
    this.lastId = this.#id ?? this.lastId;
    this.#data = [];
    this.#event = '';
    if (data.length === 0) return undefined;
    return { id: this.lastId, event, data: data.join('\n') };
  }
}

/** How long to wait before attempt `n` (from 1) after a lost connection: 0.5 s doubling to 15 s, or the
 * server's own `retry`, with up to a quarter of it on top so that many tabs do not return at once. */
export function backoffMs(attempt: number, retryMs: number | undefined, random: number): number {
  const base = Math.max(retryMs ?? 0, Math.min(15_000, 500 * 2 ** Math.min(attempt - 1, 10)));
  return Math.round(base * (1 + random / 4));
}
