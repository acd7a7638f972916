import { AGENT_FRONT } from '../editor/agent-changes';

/** The timeline, pure: one author's untagged saves within half an hour fold into one row, and so does a turn of
 * the agent. */
export interface Revision {
  revision: number;
  action: string;
  author: string;
  front: string;
  created_at: string;
  message?: string | null;
  tags?: string[];
  ask_for?: string | null;
  name: string;
}

export interface Fold<R extends Revision = Revision> {
  /** Newest first; one item unless saves were folded. */
  items: R[];
  /** True for a turn of the agent. */
  agent: boolean;
}

const GAP_MS = 30 * 60 * 1000;

export function fold<R extends Revision>(revisions: readonly R[]): Fold<R>[] {
  const rows: Fold<R>[] = [];
  for (const one of revisions) {
    const last = rows.at(-1);
    if (last && joins(last, one)) last.items.push(one);
    else rows.push({ items: [one], agent: one.front === AGENT_FRONT });
  }
  return rows;
}

/** Tagged revisions and anything but plain changes stand alone. All changes of a turn carry its message. */
function joins(row: Fold, next: Revision): boolean {
  const newest = row.items[0];
  const previous = row.items.at(-1);
  if (!newest || !previous) return false;
  const untagged = (one: Revision) => (one.tags ?? []).length === 0;
  const plain = (one: Revision) => /^chang|^update/.test(one.action);
  return (
    untagged(previous) &&
    untagged(next) &&
    (row.agent ? previous.message === next.message : plain(previous) && plain(next)) &&
    previous.author === next.author &&
    previous.front === next.front &&
    Date.parse(newest.created_at) - Date.parse(next.created_at) <= GAP_MS
  );
}

/** How a revision is asked for: by its number, unless that number means another entity now. */
export function reference(one: Revision): string {
  return one.ask_for ?? String(one.revision);
}
