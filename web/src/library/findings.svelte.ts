import { SvelteMap } from 'svelte/reactivity';
import { changes } from '../api/changes.svelte';
import { api, ask, type Schemas } from '../api/client';
import { asProblem, type Problem } from '../api/problem';

export type Finding = Schemas['LintFinding'];

/** Problems by entity. Mistakes in files come with the stream of changes and cost nothing; lint reads
 * the whole library, so it runs only while the reader filters by problems. Notes are advice and not
 * counted. */
class Findings {
  checking = $state(false);
  problem = $state<Problem | undefined>();
  #linted = new SvelteMap<string, Finding[]>();
  #again = false;

  async load(): Promise<void> {
    if (this.checking) {
      this.#again = true;
      return;
    }
    this.checking = true;
    try {
      const { data } = await ask(api.GET('/api/lint'));
      this.#linted.clear();
      for (const finding of data.findings) {
        if (finding.level === 'note' || !finding.kind || !finding.name) continue;
        const key = `${finding.kind}:${finding.scope}:${finding.name}`;
        this.#linted.set(key, [...(this.#linted.get(key) ?? []), finding]);
      }
      this.problem = undefined;
    } catch (error) {
      this.problem = asProblem(error);
    }
    this.checking = false;
    if (this.#again) {
      this.#again = false;
      void this.load();
    }
  }

  of(item: { kind: string; scope: string; name: string }): number {
    const linted = this.#linted.get(`${item.kind}:${item.scope}:${item.name}`)?.length ?? 0;
    if (linted > 0 || (item.scope !== 'project' && item.scope !== 'global')) return linted;
    return changes.problems.filter((one) => one.entry?.kind === item.kind && one.entry.name === item.name).length;
  }
}

export const findings = new Findings();
