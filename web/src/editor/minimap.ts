/** Changes of the preview that the reader has not seen: pure, with the blocks in their order. */
export interface Unseen {
  above: number;
  below: number;
  /** The next one to go to: the first below, else the last above. */
  next: string | undefined;
}

/** Changed blocks out of view, until each was in view once. */
export function stillUnseen(unseen: ReadonlySet<string>, changed: Iterable<string>, inView: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...unseen, ...changed].filter((id) => !inView.has(id)));
}

export function countUnseen(order: readonly string[], unseen: ReadonlySet<string>, inView: ReadonlySet<string>): Unseen {
  const first = order.findIndex((id) => inView.has(id));
  const above = order.filter((id, at) => unseen.has(id) && at < first);
  const below = order.filter((id, at) => unseen.has(id) && at >= first);
  return { above: above.length, below: below.length, next: below[0] ?? above.at(-1) };
}

/** `2 changes below`, `1 change above`, `1 change above, 2 below`. */
export function sayUnseen({ above, below }: Unseen): string {
  const changes = (count: number) => `${count} ${count === 1 ? 'change' : 'changes'}`;
  if (above > 0 && below > 0) return `${changes(above)} above, ${below} below`;
  return above > 0 ? `${changes(above)} above` : `${changes(below)} below`;
}
