import { api, ask } from '../api/client';
import { asProblem, type Problem } from '../api/problem';
import type { Proposal } from './proposals';

/** What the agent proposes about one persona and what it asks, until the person decides. */
export class OpenProposals {
  proposal = $state.raw<Proposal | undefined>();
  questions = $state.raw<readonly Proposal[]>([]);
  /** The one that is being applied or dismissed. */
  busy = $state<string | undefined>();
  /** Why the last decision failed, by the id of its proposal. */
  refusal = $state.raw<{ id: string; problem: Problem } | undefined>();

  readonly #personaId: string;
  readonly #signal: AbortSignal;
  #reads = 0;

  constructor(personaId: string, signal: AbortSignal) {
    this.#personaId = personaId;
    this.#signal = signal;
  }

  get count(): number {
    return this.questions.length + (this.proposal ? 1 : 0);
  }

  /** Reads what is open. A server that cannot say has nothing open. */
  async refresh(): Promise<void> {
    const read = (this.#reads += 1);
    try {
      const query = { personaId: this.#personaId };
      const { data } = await ask(api.GET('/api/persona-agent/proposal', { params: { query }, signal: this.#signal }));
      if (read !== this.#reads) return;
      this.proposal = data.proposal ?? undefined;
      this.questions = data.questions ?? [];
    } catch {
      // What was read before stays: applying it says what is wrong.
    }
  }

  /** Nothing is open in a new conversation. */
  forget(): void {
    this.#reads += 1;
    this.proposal = undefined;
    this.questions = [];
    this.refusal = undefined;
  }

  /** Applies exactly what is shown, and returns how many entities changed. */
  async apply(id: string): Promise<number | undefined> {
    const body = { personaId: this.#personaId, proposalId: id };
    const answer = await this.#decide(id, () => ask(api.POST('/api/persona-agent/apply', { body })));
    return answer?.data.applied.length;
  }

  async dismiss(id: string): Promise<boolean> {
    const body = { personaId: this.#personaId, proposalId: id };
    return (await this.#decide(id, () => ask(api.POST('/api/persona-agent/dismiss', { body })))) !== undefined;
  }

  async #decide<T>(id: string, send: () => Promise<T>): Promise<T | undefined> {
    if (this.busy !== undefined) return undefined;
    this.busy = id;
    this.refusal = undefined;
    try {
      return await send();
    } catch (error) {
      this.refusal = { id, problem: asProblem(error) };
      return undefined;
    } finally {
      await this.refresh();
      this.busy = undefined;
    }
  }
}
