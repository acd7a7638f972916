import { api, ask, type Body, type Scope } from '../api/client';
import { Problem, asProblem } from '../api/problem';
import { follow } from '../api/stream';
import { heard, type Run, type RunEvent } from './grid';

export type Wanted = Body<'/api/tests'>;
export type Compared = Body<'/api/compare'>;

const RECENT = 8;

/** The test runs that the grid shows, each followed while it runs. */
export class Runs {
  all = $state.raw<ReadonlyMap<string, Run>>(new Map());
  recent = $state.raw<readonly Run[]>([]);
  inputs = $state.raw<readonly string[]>([]);
  scope = $state<Scope | undefined>();
  revision = $state<number | undefined>();
  problem = $state.raw<Problem | undefined>();
  loaded = $state(false);
  /** False if the server has no test runs. */
  supported = $state(true);

  readonly persona: string;
  #abort = new AbortController();

  constructor(persona: string) {
    this.persona = persona;
  }

  close(): void {
    this.#abort.abort();
  }

  /** Reads the persona's test inputs and its last runs. */
  async load(): Promise<void> {
    try {
      const { data } = await ask(api.GET('/api/library/{kind}/{name}', { params: { path: { kind: 'persona', name: this.persona } } }));
      const { scope, revision } = data as { scope?: Scope; revision?: number };
      this.scope = scope;
      this.revision = revision;
      this.inputs = ((data as { test_inputs?: string[] }).test_inputs ?? []).slice();
      const query = { persona: this.persona, limit: RECENT };
      this.recent = (await ask(api.GET('/api/tests', { params: { query } }))).data.items as Run[];
      this.problem = undefined;
    } catch (error) {
      const problem = asProblem(error);
      if (problem.unsupported) this.supported = false;
      else this.problem = problem;
    } finally {
      this.loaded = true;
    }
  }

  /** Shows a run: reads it once, and follows it while it runs. */
  async show(id: string): Promise<void> {
    if (this.all.has(id)) return;
    try {
      const { data } = await ask(api.GET('/api/tests/{id}', { params: { path: { id } }, signal: this.#abort.signal }));
      this.#put(data as Run);
      if (data.state === 'running') void this.#follow(id);
    } catch (error) {
      if (!this.#abort.signal.aborted) this.problem = asProblem(error);
    }
  }

  async start(wanted: Wanted): Promise<string> {
    return (await ask(api.POST('/api/tests', { body: wanted }))).data.id;
  }

  async compare(compared: Compared): Promise<string> {
    return (await ask(api.POST('/api/compare', { body: compared }))).data.id;
  }

  async stop(): Promise<void> {
    const running = [...this.all.values()].filter(({ state }) => state === 'running');
    for (const { id } of running) {
      const { data } = await ask(api.POST('/api/tests/{id}/cancel', { params: { path: { id } } }));
      this.#put(data as Run);
    }
  }

  async #follow(id: string): Promise<void> {
    await follow(`/api/tests/${encodeURIComponent(id)}/events`, {
      signal: this.#abort.signal,
      finished: () => this.all.get(id)?.state !== 'running',
      onEvent: (event) => {
        const run = this.all.get(id);
        if (run) this.#put(heard(run, JSON.parse(event.data) as RunEvent));
      },
      onState: (_, problem) => {
        if (problem && problem.status >= 400) this.problem = problem;
      },
    });
  }

  #put(run: Run): void {
    this.all = new Map(this.all).set(run.id, run);
  }
}
