import type { Link } from './graph';
import type { PlannedTicket, State, TrackPlan } from './types';

/** A plan before anything runs, pure. */

export function planLinks(plan: TrackPlan): Link[] {
  const known = new Set(plan.tickets.map(({ id }) => id));
  return plan.tickets.flatMap(({ id, depends_on }) => depends_on.filter((from) => known.has(from) && from !== id).map((from) => ({ from, to: id, added: false })));
}

/** The tickets as the graph draws them; none has a state yet. */
export function planNodes(plan: TrackPlan): { id: string; title: string; state: State }[] {
  return plan.tickets.map(({ id, title }) => ({ id, title, state: 'ready' }));
}

/** What a person should know before a start. */
export interface Warning {
  key: string;
  text: string;
}

export function planWarnings(plan: TrackPlan): Warning[] {
  const found: Warning[] = [];
  if (plan.tickets.length === 0) found.push({ key: 'empty', text: 'The track has no tickets yet.' });
  if (!plan.isolate) found.push({ key: 'isolate', text: 'The project is no git repository with a commit: tickets are worked in the project itself, one after the other.' });
  const left = plan.base?.uncommitted ?? 0;
  if (left > 0) found.push({ key: 'uncommitted', text: `${left === 1 ? 'One file that is' : `${left} files that are`} not committed ${left === 1 ? 'is' : 'are'} no part of the work.` });
  const unchecked = plan.tickets.filter(({ check }) => !check).map(({ id }) => id);
  if (unchecked.length > 0) found.push({ key: 'check', text: `Without a check, you accept the result yourself: ${some(unchecked)}.` });
  const nobody = plan.tickets.filter(({ models }) => models.length === 0).map(({ id }) => id);
  if (nobody.length > 0) found.push({ key: 'models', text: `No model is set up for ${some(nobody)}.` });
  const lost = new Map<string, { reason: string; tickets: string[] }>();
  for (const { id, fell_back } of plan.tickets) {
    for (const { persona, reason } of fell_back ?? []) {
      const known = lost.get(persona) ?? { reason, tickets: [] };
      if (!known.tickets.includes(id)) known.tickets.push(id);
      lost.set(persona, known);
    }
  }
  for (const [persona, { reason, tickets }] of lost) {
    found.push({ key: `persona:${persona}`, text: `The persona ${persona} cannot be loaded (${reason}); the defaults take over for ${some(tickets)}.` });
  }
  return found;
}

function some(ids: readonly string[]): string {
  return ids.length <= 6 ? ids.join(', ') : `${ids.slice(0, 6).join(', ')} and ${ids.length - 6} more`;
}

/** The commit that tickets start from, in short. */
export function baseText({ base }: TrackPlan): string | undefined {
  if (!base) return undefined;
  const commit = base.commit.slice(0, 10);
  return base.branch ? `${base.branch} at ${commit}` : commit;
}

/** Tokens of the first prompts of all tickets, files of the project included. */
export function firstTokens(plan: TrackPlan): number {
  return plan.tickets.reduce((sum, ticket) => sum + promptTokens(ticket), 0);
}

export function promptTokens({ tokens, context }: PlannedTicket): number {
  return tokens + (context?.tokens ?? 0);
}
