import { count } from '../ui/words';
import type { Cap, CheckRun, MergedTrack, Origin, Phase, Proof, ReviewVerdict, Ruling, Spent, State, Submission } from './types';

/** States, numbers and times of tracks in words. */

export const STATES: Record<State, string> = {
  draft: 'draft',
  awaiting_approval: 'awaits approval',
  blocked: 'blocked',
  ready: 'ready',
  setup: 'setting up',
  working: 'working',
  needs_input: 'needs you',
  submitted: 'submitted',
  checking: 'checking',
  reviewing: 'in review',
  rework: 'rework',
  queued: 'queued to merge',
  integrating: 'merging',
  merged: 'merged',
  no_change: 'no change needed',
  failed: 'failed',
  cancelled: 'cancelled',
};

export const PHASES: Record<Phase, string> = {
  new: 'not started',
  running: 'running',
  waiting: 'waits for you',
  paused: 'paused',
  finished: 'finished',
  cancelled: 'cancelled',
};

export const TIERS: Record<number, string> = { 1: 'Tier 1, orchestrator', 2: 'Tier 2, tech lead', 3: 'Tier 3, worker', 4: 'Tier 4, reviewer' };

/** Two decimals, or as many more as a small amount needs. The prices' currency is the user's choice, so none is named. */
export function money(amount: number): string {
  return amount === 0 || amount >= 0.01 ? amount.toFixed(2) : amount.toFixed(6);
}

/** `1,482`, `48.2k`, `3.1M`. */
export function tokens(number: number): string {
  if (number < 10_000) return count(number);
  return number < 1_000_000 ? `${(number / 1000).toFixed(1)}k` : `${(number / 1_000_000).toFixed(1)}M`;
}

/** What an account spent: money as far as prices are known, and what of it is unknown. */
export function costText({ tokens: all, cost, unpriced_tokens: unpriced = 0 }: Spent): string {
  if (unpriced === 0) return `cost ${money(cost)}`;
  return unpriced >= all ? 'cost unknown: no price' : `cost ${money(cost)}, and ${tokens(unpriced)} tokens without a price`;
}

export function capText({ tokens: most, cost }: Cap): string {
  const parts = [most == null ? '' : `${tokens(most)} tokens`, cost == null ? '' : `cost ${money(cost)}`].filter(Boolean);
  return parts.length === 0 ? 'no cap' : parts.join(', ');
}

/** `of 5,000 tokens`, or `no cap`. */
export function ofCap(cap: Cap): string {
  return cap.tokens == null && cap.cost == null ? 'no cap' : `of ${capText(cap)}`;
}

/** The largest share of a cap that is spent, from 0 to 1; `undefined` without a cap. */
export function share(spent: Spent, cap: Cap): number | undefined {
  const part = (used: number, most: number | null | undefined) => (most == null ? [] : [most === 0 ? 1 : Math.min(1, used / most)]);
  const parts = [...part(spent.tokens, cap.tokens), ...part(spent.cost, cap.cost)];
  return parts.length === 0 ? undefined : Math.max(...parts);
}

/** `48 s`, `12 min`, `3 h 20 min`, `2 d 4 h`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function between(from: string, to: string | null | undefined, now: number): string {
  return duration((to == null ? now : Date.parse(to)) - Date.parse(from));
}

export function age(at: string | null | undefined, now: number): string {
  return at == null ? 'none yet' : `${duration(now - Date.parse(at))} ago`;
}

export type CheckState = 'passed' | 'failed' | 'timed_out';

export function checkState(run: Pick<CheckRun, 'exit_code' | 'timed_out'>): CheckState {
  if (run.timed_out) return 'timed_out';
  return run.exit_code === 0 ? 'passed' : 'failed';
}

export function checkText(run: CheckRun): string {
  const state = checkState(run);
  if (state === 'timed_out') return 'ran out of time';
  if (state === 'passed') return 'green';
  return run.exit_code == null ? 'red, was killed' : `red, exit code ${run.exit_code}`;
}

/** The first characters of a commit's id. */
export function short(commit: string): string {
  return commit.slice(0, 10);
}

export const RULINGS: Record<Ruling, string> = { accepted: 'accepted', rejected: 'rejected', unverified: 'unverified' };
export const VERDICTS: Record<ReviewVerdict, string> = { pass: 'passes it', rework: 'sends it back', block: 'blocks it' };
export const OUTCOMES: Record<Submission['outcome'], string> = {
  done: 'says it is done',
  no_change: 'says that nothing had to be changed',
  blocked: 'says that it cannot go on',
  partial: 'says that a part is left',
};

export const OBSTACLES: Record<NonNullable<MergedTrack['obstacle']>, string> = {
  no_branch: 'There is no such branch. Nothing was changed.',
  diverged: 'The branch has commits that the track lacks, so it is no fast-forward. Nothing was changed.',
  uncommitted: 'Its checkout has changes that are not committed. Nothing was changed.',
  busy: 'A merge, a rebase or the like is under way in its checkout. Nothing was changed.',
  refused: 'Git refuses, for example because an untracked file is in the way. Nothing was changed.',
};

/** How a ticket came into the track; empty for one that was written in it. */
export function originText(origin: Origin): string {
  switch (origin.origin) {
    case 'track':
      return '';
    case 'person':
      return `added by ${origin.by}`;
    case 'split':
      return `a part of ${origin.of}`;
    case 'found':
      return `found while working on ${origin.by}`;
    case 'resolver':
      return `resolves the conflict of ${origin.of}${origin.with.length > 0 ? ` with ${origin.with.join(', ')}` : ''}`;
  }
}

/** What proves a criterion. */
export function proofText(proof: Proof | null | undefined): string {
  if (!proof) return '';
  if (proof.kind === 'check') return proof.command;
  return proof.kind === 'test' ? proof.name : proof.place;
}

/** A command as a shell takes it. */
export function shellText(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}
