/** A question that appears under a finger must not be answered by it: a yes counts only after the reader
 * could have seen it. Pure. */
export const GUARD_MS = 300;

/** True once a yes counts. `shownAt` is `undefined` until the question is whole on the screen. */
export function isArmed(shownAt: number | undefined, now: number): boolean {
  return shownAt !== undefined && now - shownAt >= GUARD_MS;
}
