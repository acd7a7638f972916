import { api, ask, type Schemas } from '../api/client';
import { asProblem, type Problem } from '../api/problem';

/** Providers and models that the server has, read when first needed. */
class Models {
  providers = $state.raw<readonly Schemas['ProviderModels'][]>([]);
  loaded = $state(false);
  problem = $state.raw<Problem | undefined>();
  #asked = false;

  /** `provider/model` of every model that answers. */
  names = $derived(this.providers.flatMap(({ name, models }) => models.map(({ id }) => `${name}/${id}`)));
  /** True if no provider is set up, so that a script answers. */
  rehearsal = $derived(this.loaded && !this.problem && this.providers.length === 0);

  load(): void {
    if (!this.#asked) void this.refresh();
  }

  async refresh(): Promise<void> {
    this.#asked = true;
    try {
      this.providers = (await ask(api.GET('/api/models'))).data.items;
      this.problem = undefined;
    } catch (error) {
      this.problem = asProblem(error);
      this.#asked = false;
    } finally {
      this.loaded = true;
    }
  }
}

export const models = new Models();
