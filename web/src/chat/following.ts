/** Whether a transcript follows its newest line: a latch that the reader's input changes, never a
 * distance. Pure: measurements in, the next position out.
 *
 * Scrolling upward releases it. Scrolling down to the end, *Jump to latest* and sending set it again.
 * Content that shrinks and the end of a stream never scroll. A long answer stops following once its
 * first line reaches the top, so that it can be read from its beginning. */
export interface Measured {
  top: number;
  height: number;
  viewport: number;
}

export interface Following {
  latched: boolean;
  /** True after *Jump to latest*: the reader wants the end, not the beginning of the answer. */
  insists: boolean;
  last: Measured;
}

/** Fractions of a pixel that browsers leave between the end and the last position. */
const SLACK_PX = 2;

export const startFollowing: Following = { latched: true, insists: false, last: { top: 0, height: 0, viewport: 0 } };

/** The reader moves up by wheel, touch or key, also where the position cannot change any more. */
export function movedUp(following: Following): Following {
  return { ...following, latched: false, insists: false };
}

/** *Jump to latest*. */
export function jumped(following: Following): Following {
  return { ...following, latched: true, insists: true };
}

/** The reader sent a message. */
export function sent(following: Following): Following {
  return { ...following, latched: true, insists: false };
}

/** A scroll event. Our own scrolls arrive here too, and those of a browser whose content shrank and grew
 * again: only one while the reader's hand is on the wheel, the keys or the scrollbar is the reader's. */
export function scrolled(following: Following, now: Measured, byReader: boolean): Following {
  const { last } = following;
  const next = { ...following, last: now };
  if (!byReader) return next;
  if (now.top < last.top) return { ...next, latched: false, insists: false };
  return now.top > last.top && atEnd(now) ? { ...next, latched: true } : next;
}

export function atEnd({ top, height, viewport }: Measured): boolean {
  return height - viewport - top <= SLACK_PX;
}

/** Where to scroll after the content changed, or `undefined` to stay. `answerTop` is the position of the
 * first line of the answer that streams. */
export function target(following: Following, now: Measured, answerTop: number | undefined): number | undefined {
  if (!following.latched) return undefined;
  const end = now.height - now.viewport;
  const limit = answerTop === undefined || following.insists ? end : Math.min(end, answerTop);
  return limit > now.top + SLACK_PX ? limit : undefined;
}

/** Remembers the measurements after our own scroll or a change of content. */
export function measured(following: Following, now: Measured): Following {
  return { ...following, last: now };
}
