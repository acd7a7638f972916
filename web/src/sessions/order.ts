import type { Schemas } from '../api/client';

export type Session = Schemas['Session'];

/** Why a session waits for the reader, or `undefined`. */
export function waitsFor(session: Session): 'permission' | 'plan' | undefined {
  if (session.status === 'waiting') return 'permission';
  return session.status === 'idle' && session.plan?.status === 'proposed' ? 'plan' : undefined;
}

export type Group = 'waiting' | 'running' | 'rest';

export function groupOf(session: Session): Group {
  if (waitsFor(session)) return 'waiting';
  return session.status === 'running' ? 'running' : 'rest';
}

const RANK: Record<Group, number> = { waiting: 0, running: 1, rest: 2 };

/** Those that wait for the reader first, then those that run, each the last used first. Delegates are
 * left out: their questions appear in the session above them. */
export function ordered(sessions: readonly Session[], query: string): Session[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return sessions
    .filter((session) => !session.parent)
    .filter((session) => {
      const hay = `${session.title ?? ''} ${session.persona} ${session.id}`.toLowerCase();
      return words.every((word) => hay.includes(word));
    })
    .toSorted((a, b) => RANK[groupOf(a)] - RANK[groupOf(b)] || b.updated_at.localeCompare(a.updated_at));
}

/** A session without a message has no title yet. */
export function titleOf(session: { title?: string | null }): string {
  return session.title?.trim() || 'Nothing said yet';
}
