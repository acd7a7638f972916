import { expect, test } from 'vitest';
import { sentenceOf } from './events';
import type { LoggedEvent } from './types';

const casting = { persona: 'code_worker', models: ['a/one'] };

test.each<[LoggedEvent, string]>([
  [{ type: 'opened', isolation: 'worktrees', plan: 'written', by: 'ada' }, 'Started by ada, each ticket in a worktree of its own'],
  [{ type: 'opened', isolation: 'none', plan: 'written', by: '' }, 'Started, in the project itself, one ticket after the other'],
  [{ type: 'approved', tickets: ['T1', 'T2'], by: 'ada' }, 'T1 and T2 approved by ada'],
  [{ type: 'step_approved', ticket: 'T1', step: 'review', by: 'ada' }, 'The review approved by ada'],
  [{ type: 'paused', cause: { cause: 'failures', tickets: ['T1', 'T2', 'T3'] } }, 'Paused: T1, T2 and T3 failed in a row'],
  [{ type: 'paused', cause: { cause: 'person', by: 'ada' } }, 'Paused by ada'],
  [{ type: 'track_cancelled', by: 'ada', reason: 'too late' }, 'Cancelled by ada: too late'],
  [{ type: 'tickets_added', origin: { origin: 'split', of: 'T1' }, entry: 'planned', tickets: [{ id: 'T1-a' }, { id: 'T1-b' }] }, 'T1-a and T1-b added, parts of T1'],
  [{ type: 'persona_fell_back', ticket: 'T1', persona: 'zoe', reason: 'there is none', role: 'worker' }, 'zoe could not be loaded: there is none. The defaults took over'],
  [{ type: 'prepared', ticket: 'T1', base: '0123456789abcdef', baseline: { command: 'make', exit_code: 0, seconds: 3 } }, 'Prepared, from 0123456789; the check is green after 3 s'],
  [{ type: 'work_started', ticket: 'T1', attempt: 1, casting, model: 'a/one', fresh: true }, 'Attempt 1: code_worker with a/one'],
  [{ type: 'work_started', ticket: 'T1', attempt: 2, casting: {}, model: 'a/two', fresh: true }, 'Attempt 2: a worker without a persona with a/two, afresh'],
  [{ type: 'asked', ticket: 'T1', attempt: 1, question: 'which?' }, 'The worker asks: which?'],
  [{ type: 'answered', ticket: 'T1', attempt: 1, answer: 'both', by: 'ada' }, 'Answered by ada: both'],
  [{ type: 'submitted', ticket: 'T1', attempt: 1, head: 'abcdef0123456789' }, 'Attempt 1 handed in abcdef0123'],
  [{ type: 'checked', ticket: 'T1', attempt: 1, verdict: { ruling: 'rejected', objections: [{ objection: 'red_check' }] }, run: { command: 'make', exit_code: 1, seconds: 2 } }, 'Rejected: red check; the check is red, exit code 1 after 2 s'],
  [{ type: 'checked', ticket: 'T1', attempt: 1, verdict: { ruling: 'unverified' } }, 'No check is configured'],
  [{ type: 'reviewed', ticket: 'T1', round: 1, review: { verdict: 'rework', summary: 'Not yet.', findings: [{}, {}] } }, 'The review sends it back, 2 findings: Not yet.'],
  [{ type: 'merged', ticket: 'T1', commit: 'abcdef0123456789', via: 'T1-resolve' }, 'Merged as abcdef0123 through T1-resolve'],
  [{ type: 'faulted', ticket: 'T1', step: 'work', number: 1, fault: { fault: 'stuck', signal: { signal: 'same_action' } } }, 'The work failed: the worker is stuck: same action'],
  [{ type: 'faulted', ticket: 'T1', step: 'prepare', number: 1, fault: { fault: 'machine', message: 'no room' } }, 'Preparing the worktree failed: no room'],
  [{ type: 'decided', ticket: 'T1', next: 'work', fresh: true, rung: 1 }, 'Next: another attempt, afresh'],
  [{ type: 'decided', ticket: 'T1', next: 'await', tickets: ['T1-a'] }, 'Next: T1-a first'],
  [{ type: 'retried', ticket: 'T1', by: 'ada', model: 'a/two', persona: 'zoe', note: 'mind the gap' }, 'Another chance by ada as zoe with a/two: mind the gap'],
  [{ type: 'cap_warned', account: { account: 'track' }, unit: 'cost' }, 'Four fifths of the cap in money are spent'],
])('%j', (event, sentence) => expect(sentenceOf(event)).toBe(sentence));

test('an entry of a newer server shows its name', () => {
  expect(sentenceOf({ type: 'moon_rose', ticket: 'T1' })).toBe('moon rose');
});

test('fields of another type than expected hurt nobody', () => {
  expect(sentenceOf({ type: 'approved', tickets: 'T1', by: 7 } as unknown as LoggedEvent)).toBe(' approved');
  expect(sentenceOf({ type: 'checked', ticket: 'T1', verdict: null } as unknown as LoggedEvent)).toBe('Checked');
});
