import type { Entity, Scope } from '../api/client';
import { asProblem, isAbort, type Problem } from '../api/problem';
import type { Doc } from './doc';
import { changedBlocks, loadPreview, placeholderProblems, reuseBlocks, type Block, type PieceDraft, type Preview } from './preview';

const DEBOUNCE_MS = 40;
const FRESH_MS = 2_400;

export interface Tried {
  overrides: Record<string, string>;
  stage: string | undefined;
  maxTokens: number | undefined;
  /** A piece that is open beside the persona and not saved yet. */
  piece: PieceDraft | undefined;
}

/** The live preview: one request at a time is current, a newer one cancels it, and the last good text
 * stays until the next one is there. */
export class LivePreview {
  answer = $state.raw<Preview | undefined>();
  blocks = $state.raw<Block[]>([]);
  /** The server's findings, and placeholders that nothing fills in. */
  problems = $derived([...(this.answer?.problems ?? []), ...placeholderProblems(this.blocks)]);
  /** The budget points and total without a budget: the slider's scale stays while it moves. */
  whole = $state.raw<Preview | undefined>();
  fresh = $state.raw<ReadonlySet<string>>(new Set());
  problem = $state<Problem | undefined>();
  /** True if this server has no preview. */
  unsupported = $state(false);
  waiting = $state(false);
  #abort = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #freshTimer: ReturnType<typeof setTimeout> | undefined;

  ask(doc: Doc, name: string, scope: Scope, tried: Tried): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#load(doc, name, scope, tried), this.answer ? DEBOUNCE_MS : 0);
  }

  stop(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#freshTimer);
    this.#abort.abort();
  }

  async #load(doc: Doc, name: string, scope: Scope, tried: Tried): Promise<void> {
    if (this.unsupported) return;
    this.#abort.abort();
    const abort = (this.#abort = new AbortController());
    this.waiting = true;
    try {
      const request = {
        entity: { ...doc, name } as Entity,
        scope: scope === 'builtin' ? undefined : scope,
        overrides: Object.keys(tried.overrides).length > 0 ? tried.overrides : undefined,
        stage: tried.stage,
        max_tokens: tried.maxTokens,
        pieces: tried.piece ? [tried.piece] : undefined,
      };
      const answer = await loadPreview(request, abort.signal);
      if (abort.signal.aborted) return;
      this.#take(answer, tried.maxTokens === undefined);
    } catch (error) {
      if (isAbort(error) || abort.signal.aborted) return;
      const problem = asProblem(error);
      this.unsupported = problem.unsupported;
      this.problem = problem;
    }
    this.waiting = false;
  }

  #take(answer: Preview, whole: boolean): void {
    const first = this.blocks.length === 0;
    const changed = changedBlocks(this.blocks, answer.blocks);
    this.blocks = reuseBlocks(this.blocks, answer.blocks);
    this.answer = answer;
    if (whole || !this.whole) this.whole = answer;
    this.problem = undefined;
    if (first || changed.length === 0) return;
    this.fresh = new Set(changed);
    clearTimeout(this.#freshTimer);
    this.#freshTimer = setTimeout(() => (this.fresh = new Set()), FRESH_MS);
  }
}
