import type { CellState } from './grid';

export const STATES: Record<CellState, string> = {
  waiting: 'waiting',
  running: 'running',
  passed: 'pass',
  failed: 'fail',
  unjudged: 'not judged',
  error: 'error',
  unfinished: 'unfinished',
};

export const COMPARED: Record<string, string> = {
  regressed: 'Regressed',
  improved: 'Improved',
  no_worse: 'No worse',
  cannot_tell: 'Cannot tell',
};

export function seconds(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
