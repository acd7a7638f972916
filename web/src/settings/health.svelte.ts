import { api, ask, request, type Schemas } from '../api/client';
import { asProblem, type Problem } from '../api/problem';

export interface Health {
  name: string;
  version: string;
  status: string;
  files?: { scope: string; path: string; ok: boolean }[];
}

/** What the server says about itself and its files. */
class ServerState {
  health = $state.raw<Health | undefined>();
  lint = $state.raw<Schemas['LintReport'] | undefined>();
  problem = $state.raw<Problem | undefined>();

  async refresh(): Promise<void> {
    try {
      const [health, lint] = await Promise.all([request<Health>('GET', '/healthz'), ask(api.GET('/api/lint'))]);
      this.health = health.data;
      this.lint = lint.data;
      this.problem = undefined;
    } catch (error) {
      this.problem = asProblem(error);
    }
  }
}

export const server = new ServerState();
