import { api, ask, type Kind, type Schemas, type Scope } from '../api/client';
import { Problem, asProblem } from '../api/problem';
import { fieldsOf } from './locks';

/** What agents must not change about one entity. A lock counts at once and is no part of a draft. */
export class Locks {
  /** False on a server that knows no locks. */
  known = $state(false);
  whole = $state(false);
  busy = $state(false);
  problem = $state.raw<Problem | undefined>();
  #fields = $state.raw<ReadonlySet<string>>(new Set());

  readonly #kind: Kind;
  readonly #name: string;
  #scope: Scope | undefined;
  #reads = 0;

  constructor(kind: Kind, name: string) {
    this.#kind = kind;
    this.#name = name;
  }

  /** True if agents must not change the field. */
  holds(field: string): boolean {
    return this.whole || this.#fields.has(field);
  }

  async load(scope: Scope): Promise<void> {
    const read = (this.#reads += 1);
    this.#scope = scope;
    try {
      const params = { path: { kind: this.#kind, name: this.#name }, query: { scope } };
      const { data } = await ask(api.GET('/api/library/{kind}/{name}/locks', { params }));
      if (read === this.#reads) this.#take(data);
    } catch (error) {
      if (read === this.#reads && asProblem(error).unsupported) this.known = false;
    }
  }

  /** Locks or unlocks a field. */
  async toggle(field: string): Promise<void> {
    const locks = !this.#fields.has(field);
    await this.#change(locks, fieldsOf(this.#kind, field));
  }

  /** Locks or unlocks the entity as a whole. Locks of single fields stay. */
  async toggleWhole(): Promise<void> {
    await this.#change(!this.whole, [undefined]);
  }

  async #change(locks: boolean, fields: readonly (string | undefined)[]): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.problem = undefined;
    this.#reads += 1;
    const path = { kind: this.#kind, name: this.#name };
    const scope = this.#scope;
    try {
      for (const field of fields) {
        const call = locks
          ? api.POST('/api/library/{kind}/{name}/locks', { params: { path }, body: { field, scope } })
          : api.DELETE('/api/library/{kind}/{name}/locks', { params: { path, query: { field, scope } } });
        this.#take((await ask(call)).data);
      }
    } catch (error) {
      this.problem = asProblem(error);
    } finally {
      this.busy = false;
    }
  }

  #take(locks: Schemas['Locks']): void {
    this.known = true;
    this.whole = locks.whole;
    this.#fields = new Set(locks.fields);
  }
}
