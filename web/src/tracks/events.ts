import { listed } from '../ui/words';
import type { LoggedEvent } from './types';
import { checkText, duration } from './words';

/** The log of a track as sentences, pure. An entry of a newer server shows its name. */

const STEPS: Record<string, string> = {
  prepare: 'Preparing the worktree',
  work: 'The work',
  verify: 'The check',
  review: 'The review',
  split: 'Breaking it down',
  integrate: 'Merging',
  finish: 'The end of the track',
};

const NEXT: Record<string, string> = {
  queue: 'queued to merge',
  no_change: 'nothing has to be changed',
  split: 'tier 2 breaks it down',
  fail: 'it fails',
  review_by: 'another model reviews',
};

export function sentenceOf(event: LoggedEvent): string {
  const { text, number, words, record } = reader(event);
  const by = text('by') === '' ? '' : ` by ${text('by')}`;
  const reason = (name: string) => (text(name) === '' ? '' : `: ${text(name)}`);
  switch (event.type) {
    case 'opened':
      return `Started${by}, ${text('isolation') === 'worktrees' ? 'each ticket in a worktree of its own' : 'in the project itself, one ticket after the other'}`;
    case 'approved':
      return `${listed(words('tickets'))} approved${by}`;
    case 'step_approved':
      return `${STEPS[text('step')] ?? text('step')} approved${by}`;
    case 'paused':
      return pauseText(record('cause'));
    case 'resumed':
      return `Resumed${by}`;
    case 'track_cancelled':
      return `Cancelled${by}${reason('reason')}`;
    case 'finished':
      return 'Finished: nothing is left that can be done';
    case 'tickets_added':
      return addedText(event);
    case 'persona_fell_back':
      return `${text('persona')} could not be loaded${reason('reason')}. The defaults took over`;
    case 'setup_started':
      return 'The worktree is being prepared';
    case 'prepared':
      return preparedText(event);
    case 'work_started':
      return `Attempt ${number('attempt')}: ${who(event)} with ${text('model')}${event.fresh === true && number('attempt') > 1 ? ', afresh' : ''}`;
    case 'work_resumed':
      return `Attempt ${number('attempt')} goes on`;
    case 'asked':
      return `The worker asks${reason('question')}`;
    case 'answered':
      return `Answered${by}${reason('answer')}`;
    case 'reported_blocked':
      return `The worker cannot go on${reason('reason')}`;
    case 'checkpointed':
      return `Work in progress is kept as ${text('commit').slice(0, 10)}`;
    case 'submitted':
      return `Attempt ${number('attempt')} handed in ${text('head') === '' ? 'its result' : text('head').slice(0, 10)}`;
    case 'check_started':
      return 'The check runs';
    case 'checked':
      return checkedText(event);
    case 'review_started':
      return `Review ${number('round')}: ${who(event)} with ${text('model')}`;
    case 'reviewed':
      return reviewedText(record('review'));
    case 'split_started':
      return `${who(event)} breaks it down with ${text('model')}`;
    case 'integration_started':
      return 'Merging begins';
    case 'merged':
      return `Merged${text('commit') === '' ? '' : ` as ${text('commit').slice(0, 10)}`}${text('via') === '' ? '' : ` through ${text('via')}`}`;
    case 'faulted':
      return `${STEPS[text('step')] ?? text('step')} failed${faultText(record('fault'))}`;
    case 'result_approved':
      return `The result is approved${by}${reason('note')}`;
    case 'decided':
      return `Next: ${nextText(event)}`;
    case 'retried':
      return retriedText(event, by);
    case 'cancelled':
      return `Cancelled${by}${reason('reason')}`;
    case 'cap_warned':
      return `Four fifths of the cap in ${text('unit') === 'cost' ? 'money' : 'tokens'} are spent`;
    case 'cap_raised':
      return `The cap is changed${by}`;
    default:
      return event.type.replaceAll('_', ' ');
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Fields of an entry by their kind; a missing one is empty. */
function reader(fields: Fields) {
  return {
    text: (name: string): string => (typeof fields[name] === 'string' ? (fields[name] as string) : ''),
    number: (name: string): number => (typeof fields[name] === 'number' ? (fields[name] as number) : 0),
    words: (name: string): string[] => (Array.isArray(fields[name]) ? (fields[name] as unknown[]).filter((one) => typeof one === 'string') : []),
    record: (name: string): Fields => (fields[name] !== null && typeof fields[name] === 'object' ? (fields[name] as Fields) : {}),
    list: (name: string): Fields[] => (Array.isArray(fields[name]) ? (fields[name] as Fields[]) : []),
  };
}

function who(event: Fields): string {
  const casting = reader(event).record('casting');
  return reader(casting).text('persona') || 'a worker without a persona';
}

function pauseText(cause: Fields): string {
  const { text, words } = reader(cause);
  return text('cause') === 'failures' ? `Paused: ${listed(words('tickets'))} failed in a row` : `Paused by ${text('by')}`;
}

function addedText(event: Fields): string {
  const { list, record } = reader(event);
  const ids = listed(list('tickets').map((ticket) => reader(ticket).text('id')));
  const origin = reader(record('origin'));
  const why: Record<string, string> = {
    person: ` by ${origin.text('by')}`,
    split: `, parts of ${origin.text('of')}`,
    found: `, found while working on ${origin.text('by')}`,
    resolver: ` to resolve the conflict of ${origin.text('of')}`,
  };
  return `${ids} added${why[origin.text('origin')] ?? ''}`;
}

function runText(run: Fields): string {
  const { text, number } = reader(run);
  const exit = typeof run.exit_code === 'number' ? run.exit_code : undefined;
  const said = checkText({ command: text('command'), exit_code: exit, timed_out: run.timed_out === true, seconds: number('seconds') });
  return `${said} after ${duration(number('seconds') * 1000)}`;
}

function preparedText(event: Fields): string {
  const { text, record } = reader(event);
  const base = text('base') === '' ? '' : `, from ${text('base').slice(0, 10)}`;
  return `Prepared${base}${event.baseline ? `; the check is ${runText(record('baseline'))}` : ''}`;
}

function checkedText(event: Fields): string {
  const { record } = reader(event);
  const verdict = reader(record('verdict'));
  const ruling: Record<string, string> = { accepted: 'Accepted', rejected: 'Rejected', unverified: 'No check is configured' };
  const objections = verdict.list('objections').map((one) => reader(one).text('objection').replaceAll('_', ' '));
  const run = event.run ? `; the check is ${runText(record('run'))}` : '';
  return `${ruling[verdict.text('ruling')] ?? 'Checked'}${objections.length > 0 ? `: ${listed(objections)}` : ''}${run}`;
}

function reviewedText(review: Fields): string {
  const { text, list } = reader(review);
  const verdicts: Record<string, string> = { pass: 'The review passes it', rework: 'The review sends it back', block: 'The review blocks it' };
  const findings = list('findings').length;
  return `${verdicts[text('verdict')] ?? 'Reviewed'}${findings === 0 ? '' : findings === 1 ? ', one finding' : `, ${findings} findings`}${text('summary') === '' ? '' : `: ${text('summary')}`}`;
}

function faultText(fault: Fields): string {
  const { text, record } = reader(fault);
  const kinds: Record<string, string> = {
    stuck: `the worker is stuck: ${reader(record('signal')).text('signal').replaceAll('_', ' ')}`,
    no_submission: 'nothing was handed in',
    cap: 'the cap is reached',
    unpriced: `${text('model')} has no known price`,
    red_baseline: `the check is ${runText(record('run'))} before anything was changed`,
  };
  const said = kinds[text('fault')] ?? text('message');
  return said === '' ? '' : `: ${said}`;
}

function nextText(event: Fields): string {
  const { text, number, words } = reader(event);
  const next = text('next');
  if (next === 'again') return 'the same step again';
  if (next === 'work') return event.fresh === true ? 'another attempt, afresh' : 'the worker goes on';
  if (next === 'review') return `review ${number('round')}`;
  if (next === 'await') return `${listed(words('tickets'))} first`;
  if (next === 'ask_person') return 'a person has to act';
  return NEXT[next] ?? next.replaceAll('_', ' ');
}

function retriedText(event: Fields, by: string): string {
  const { text } = reader(event);
  const as = text('persona') === '' ? '' : ` as ${text('persona')}`;
  const model = text('model') === '' ? '' : ` with ${text('model')}`;
  return `Another chance${by}${as}${model}${text('note') === '' ? '' : `: ${text('note')}`}`;
}
