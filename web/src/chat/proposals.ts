import type { Schemas } from '../api/client';

/** Changes that the agent did not make: it was told to propose only, or it has to ask. */
export type Proposal = NonNullable<Schemas['ProposalAnswer']['proposal']>;
export type Definition = Proposal['changes'][number];

/** A text that a change shortens. */
export interface Cut {
  kind: string;
  name: string;
  field: string;
  before: number;
  after: number;
}

/** True while nothing that the proposal is based on changed. */
export function isCurrent(proposal: Proposal): boolean {
  return proposal.changes.every((change) => change.isCurrent);
}

/** The texts that lose more than half. */
export function cutsOf({ changes }: Proposal): Cut[] {
  return changes.flatMap(({ kind, name, fields }) =>
    fields
      .map(({ field, from, to }) => ({ kind, name, field, before: characters(from), after: characters(to) }))
      .filter(({ before, after }) => after * 2 < before),
  );
}

/** The fields of an entity that wait for an answer. */
export function fieldsAsked(questions: readonly Proposal[], kind: string, name: string): Set<string> {
  const here = questions.flatMap(({ changes }) => changes).filter((change) => change.kind === kind && change.name === name);
  return new Set(here.flatMap(({ fields }) => fields.map(({ field }) => field)));
}

/** What becomes of an entity, in a word. */
export function verbOf({ before, after }: Definition): 'creates' | 'changes' | 'deletes' {
  if (!after) return 'deletes';
  return before ? 'changes' : 'creates';
}

/** The characters of a text, or of all texts in a list. */
function characters(value: unknown): number {
  if (typeof value === 'string') return [...value].length;
  return Array.isArray(value) ? value.reduce((sum: number, one) => sum + characters(one), 0) : 0;
}
