import { asProblem, isAbort, type Problem } from '../api/problem';
import type { ServerEvent } from '../api/sse';
import { follow, type StreamState } from '../api/stream';
import { heard, isOver } from './board';
import { eventsPath, getTrack } from './calls';
import type { Recorded, TrackBoard, TrackEvent } from './types';

/** Events come in bursts; the board is read once after each. */
const READ_MS = 250;
/** A reading that failed on its way is tried again after this time. */
const AGAIN_MS = 2_000;
/** A hidden tab gives its connection back after this time: browsers open six to a host. */
const HIDDEN_MS = 60_000;
/** Entries of the log that the page keeps, the newest. */
const MOST_ENTRIES = 20_000;
const CLOCK_MS = 1_000;
/** Calls of tools that ask are no events of the track, so the board of one that runs is read now and then. */
const POLL_MS = 5_000;

/** One track that the page shows: its board, then what happens to it. */
export class OpenTrack {
  board = $state.raw<TrackBoard | undefined>();
  problem = $state.raw<Problem | undefined>();
  connection = $state<StreamState>('connecting');
  /** The log, once it was asked for. */
  log = $state.raw<readonly Recorded[] | undefined>();
  now = $state(Date.now());

  readonly id: string;
  #abort = new AbortController();
  #stream: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hidden: ReturnType<typeof setTimeout> | undefined;
  #clock: ReturnType<typeof setInterval> | undefined;
  #poll: ReturnType<typeof setInterval> | undefined;
  #entries: Recorded[] = [];
  #frame = 0;
  /** Counts readings, so that a late answer never replaces a newer one. */
  #asked = 0;

  constructor(id: string) {
    this.id = id;
  }

  async start(): Promise<void> {
    this.#clock ??= setInterval(() => (this.now = Date.now()), CLOCK_MS);
    await this.read();
    if (!this.board) return;
    document.addEventListener('visibilitychange', this.#visibility, { signal: this.#abort.signal });
    this.#poll ??= setInterval(() => {
      if (!document.hidden && this.board && !isOver(this.board.phase) && this.board.phase !== 'new') void this.read();
    }, POLL_MS);
    this.#resume(String(this.board.seq));
  }

  close(): void {
    this.#abort.abort();
    this.#stream?.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#hidden);
    clearInterval(this.#clock);
    clearInterval(this.#poll);
    cancelAnimationFrame(this.#frame);
  }

  async read(): Promise<void> {
    const asked = (this.#asked += 1);
    try {
      const board = await getTrack(this.id, this.#abort.signal);
      if (asked === this.#asked) this.take(board);
    } catch (error) {
      if (isAbort(error)) return;
      const problem = asProblem(error);
      if (!this.board || problem.status >= 400) this.problem = problem;
      if (this.board && problem.retryable) {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => void this.read(), AGAIN_MS);
      }
    }
  }

  /** A board that an answer brought. */
  take(board: TrackBoard): void {
    this.#asked += 1;
    this.board = board;
    this.problem = undefined;
    // A track that had ended goes on after a retry.
    if (!isOver(board.phase) && this.#stream?.signal.aborted && !document.hidden) this.#resume(String(board.seq));
  }

  /** Reads the log from its beginning, once. */
  loadLog(): void {
    if (this.log !== undefined) return;
    this.log = [];
    this.#resume('0');
  }

  #resume(from: string): void {
    this.#stream?.abort();
    const stream = new AbortController();
    this.#stream = stream;
    void follow(eventsPath(this.id), {
      signal: stream.signal,
      lastId: from,
      finished: () => {
        const over = this.board !== undefined && isOver(this.board.phase);
        if (over) stream.abort();
        return over;
      },
      onEvent: (event) => this.#hear(event),
      onState: (state, problem) => {
        if (stream.signal.aborted) return;
        this.connection = state;
        if (problem && problem.status >= 400 && problem.status < 500) this.problem = problem;
      },
    });
  }

  #visibility = (): void => {
    clearTimeout(this.#hidden);
    if (document.hidden) this.#hidden = setTimeout(() => this.#stream?.abort(), HIDDEN_MS);
    else if (this.#stream?.signal.aborted) void this.read();
  };

  #hear({ data }: ServerEvent): void {
    const event = JSON.parse(data) as TrackEvent;
    if (event.type === 'recorded') {
      this.#note(event.recorded);
      if (event.recorded.seq > (this.board?.seq ?? 0)) this.#readSoon();
      return;
    }
    if (!this.board) return;
    const before = this.board;
    this.board = heard(before, event);
    if (this.board !== before) this.#readSoon();
  }

  #note(recorded: Recorded): void {
    if (this.log === undefined || recorded.seq <= (this.#entries.at(-1)?.seq ?? 0)) return;
    this.#entries.push(recorded);
    if (this.#entries.length > MOST_ENTRIES) this.#entries.splice(0, this.#entries.length - MOST_ENTRIES);
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => ((this.#frame = 0), (this.log = [...this.#entries])));
  }

  #readSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.read(), READ_MS);
  }
}
