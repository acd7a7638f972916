import type { BudgetPoint } from './preview';

/** The steps of the budget slider: no limit, then each point where a piece drops, largest first. The
 * slider moves between steps, so every position means something. */
export interface Step {
  /** Undefined: no limit. */
  maxTokens: number | undefined;
  tokens: number;
  leftOut: string[];
}

export function stepsOf(total: number, points: readonly BudgetPoint[]): Step[] {
  const steps: Step[] = [{ maxTokens: undefined, tokens: total, leftOut: [] }];
  for (const point of points.toSorted((a, b) => b.max_tokens - a.max_tokens)) {
    const last = steps.at(-1);
    if (last?.maxTokens === point.max_tokens) continue;
    steps.push({ maxTokens: point.max_tokens, tokens: point.tokens, leftOut: point.left_out });
  }
  return steps;
}

/** The step that a budget of the address means: the largest one that fits into it. */
export function stepAt(steps: readonly Step[], budget: number | undefined): number {
  if (budget === undefined) return 0;
  const at = steps.findIndex((step) => step.maxTokens !== undefined && step.maxTokens <= budget);
  return at < 0 ? steps.length - 1 : at;
}

/** What the slider says at a step: "backstory-x left out, 1,265 of 1,270". */
export function sayStep(steps: readonly Step[], at: number): string {
  const step = steps[at];
  if (!step || step.maxTokens === undefined) return 'no limit, nothing left out';
  const before = new Set(steps[at - 1]?.leftOut ?? []);
  const fresh = step.leftOut.filter((id) => !before.has(id)).map(nameOf);
  const names = fresh.length > 0 ? fresh : step.leftOut.map(nameOf);
  const more = fresh.length > 0 && step.leftOut.length > fresh.length ? ` (${step.leftOut.length} in all)` : '';
  const tokens = `${step.tokens.toLocaleString('en-US')} of ${step.maxTokens.toLocaleString('en-US')}`;
  return names.length === 0 ? `nothing left out, ${tokens}` : `${names.join(', ')} left out${more}, ${tokens}`;
}

/** `part:house-rules` → `house-rules`. */
function nameOf(id: string): string {
  return id.slice(id.indexOf(':') + 1);
}
