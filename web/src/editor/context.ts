import { api, ask, type Body, type Schemas } from '../api/client';
import { count, many } from '../ui/words';

/** The files of the project that a run would show to its model, in words. Pure, but for `loadContext`. */

export type Files = Schemas['Context'];
export type ShownFile = Schemas['Shown'];
export type LeftOut = Schemas['LeftOut'];
type Why = ShownFile['why'];
type Reason = LeftOut['reason'];
type Note = Files['notes'][number];

export const STRATEGIES = ['auto', 'full', 'summarize', 'skeleton'] as const;
export type Strategy = (typeof STRATEGIES)[number];

export interface Asked {
  preset: string | undefined;
  strategy: Strategy | undefined;
  budget: number | undefined;
  task: string;
}

export async function loadContext({ preset, strategy, budget, task }: Asked, signal: AbortSignal): Promise<Files> {
  const body: Body<'/api/context'> = {
    ...(preset ? { preset } : {}),
    ...(strategy ? { strategy } : {}),
    ...(budget ? { budget } : {}),
    ...(task.trim() ? { task: task.trim() } : {}),
  };
  return (await ask(api.POST('/api/context', { body, signal }))).data;
}

export function strategyOf(value: unknown): Strategy | undefined {
  return STRATEGIES.find((one) => one === value);
}

/** A budget as it was typed: a whole number above 0, or none. */
export function budgetOf(text: string | null): number | undefined {
  const number = Number((text ?? '').replaceAll(/[\s,_]/g, ''));
  return Number.isInteger(number) && number > 0 && number <= 4_294_967_295 ? number : undefined;
}

/** True if a run of such a persona shows any files. */
export function wantsFiles({ preset, strategy }: Pick<Asked, 'preset' | 'strategy'>): boolean {
  return preset !== undefined || strategy !== undefined;
}

export function sumText({ files, tokens, budget }: Files): string {
  return `${many(files.length, 'file')}, ${count(tokens)} of ${count(budget)} tokens`;
}

/** `entries` are the patterns of the preset, if they are known. */
export function whyText(why: Why, entries: readonly string[] = []): string {
  switch (why.why) {
    case 'focus':
      return 'named as a file to see';
    case 'imported':
      return `imported by ${why.by}`;
    case 'mentioned':
      return 'the task mentions it';
    case 'entry':
      return entries[why.entry] ? `entry ${why.entry + 1}: ${entries[why.entry]}` : `entry ${why.entry + 1} of the preset`;
    case 'project':
      return 'everything of the project fits';
    case 'ranked':
      return `place ${count(why.place)} in the ranking`;
  }
}

export function reasonText(reason: Reason): string {
  switch (reason.reason) {
    case 'budget':
      return 'does not fit the budget';
    case 'excluded':
      return 'the preset leaves it out';
    case 'binary':
      return 'is binary';
    case 'huge':
      return 'is too large for a prompt';
    case 'total_bytes':
      return 'comes after more bytes than one prompt reads';
    case 'secret':
      return 'usually holds secrets';
    case 'link':
      return 'is a symbolic link';
    case 'outside':
      return 'leads out of the project';
    case 'special':
      return 'is no regular file';
    case 'path_encoding':
      return 'has a name that is no valid UTF-8';
    case 'missing':
      return 'does not exist';
    case 'changed':
      return 'changed meanwhile';
    case 'unreadable':
      return 'cannot be read';
  }
}

export function noteText(note: Note): string {
  switch (note.note) {
    case 'no_match':
      return `Entry ${note.entry + 1}, ${note.pattern}, selects no file.`;
    case 'invalid_glob':
      return `Entry ${note.entry + 1}, ${note.glob}, is no valid glob: ${note.message}`;
    case 'focus_left_out':
      return `${note.path} is not shown: it ${reasonText(note.reason)}.`;
    case 'focus_reduced':
      return `${note.path} does not fit in full; its view is ${note.view}.`;
    case 'focus_truncated':
      return `Only the first ${note.limit} named files count.`;
    case 'walk_truncated':
      return `The project has more than ${count(note.limit)} files; the rest is ignored.`;
    case 'summaries_missing':
      return `${many(note.files, 'file')} without a summary yet: shown as an outline here, and summed up by a model in a run.`;
  }
}

export interface LeftOutGroup {
  reason: string;
  text: string;
  paths: string[];
}

/** What is not shown by its reason, the largest group first. */
export function leftOutGroups(left: readonly LeftOut[]): LeftOutGroup[] {
  const groups = new Map<string, LeftOutGroup>();
  for (const { path, reason } of left) {
    const group = groups.get(reason.reason) ?? { reason: reason.reason, text: reasonText(reason), paths: [] };
    group.paths.push(path);
    groups.set(reason.reason, group);
  }
  return [...groups.values()].toSorted((a, b) => b.paths.length - a.paths.length || a.reason.localeCompare(b.reason));
}

/** The glob or the path of each entry of a preset. */
export function patternsOf(entries: unknown): string[] {
  if (!Array.isArray(entries)) return [];
  return entries.map((entry: { glob?: unknown; path?: unknown } | null) => String(entry?.glob ?? entry?.path ?? ''));
}
