import { asProblem, isAbort, type Problem } from '../api/problem';
import { planTrack } from './calls';
import type { TrackPlan } from './types';

const DEBOUNCE_MS = 400;

/** The plan of a text while it is typed: asked for a moment after the last key, and a late answer never replaces a
 * newer one. The last good plan stays while the text has mistakes. */
export class LivePlan {
  plan = $state.raw<TrackPlan | undefined>();
  problem = $state.raw<Problem | undefined>();
  /** True until the plan is that of the text. */
  pending = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #abort: AbortController | undefined;

  ask(toml: string): void {
    clearTimeout(this.#timer);
    this.#abort?.abort();
    if (toml.trim() === '') {
      this.plan = undefined;
      this.problem = undefined;
      this.pending = false;
      return;
    }
    this.pending = true;
    const abort = new AbortController();
    this.#abort = abort;
    this.#timer = setTimeout(() => void this.#read(toml, abort.signal), this.plan || this.problem ? DEBOUNCE_MS : 0);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#abort?.abort();
  }

  async #read(toml: string, signal: AbortSignal): Promise<void> {
    try {
      const plan = await planTrack(toml, signal);
      if (signal.aborted) return;
      this.plan = plan;
      this.problem = undefined;
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      this.problem = asProblem(error);
    }
    this.pending = false;
  }
}
