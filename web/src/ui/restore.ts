/** Brings back where the reader was: scroll positions and the focus of an entry of the history. A page
 * fills while it loads, so this tries once a frame until everything fits, for a short while, and ends at
 * the reader's first input. */
const RESTORE_MS = 2_000;
/** What loads above the place moves it once more, so a position that was reached is held for so long. */
const SETTLE_MS = 600;
const INPUTS = ['wheel', 'pointerdown', 'keydown', 'touchstart'] as const;

export interface Place {
  scroll: Readonly<Record<string, number>>;
  focus?: string;
}

export function restore(root: HTMLElement, place: Place, now: () => number = () => performance.now()): () => void {
  const open = new Map(Object.entries(place.scroll).filter(([, top]) => top > 0));
  let focus = place.focus;
  let frame = 0;
  const start = now();

  function stop(): void {
    cancelAnimationFrame(frame);
    for (const input of INPUTS) removeEventListener(input, stop, true);
  }

  function attempt(): void {
    for (const [name, top] of open) {
      const box = root.querySelector<HTMLElement>(`[data-scroll="${CSS.escape(name)}"]`);
      if (!box) continue;
      box.scrollTop = top;
      if (Math.abs(box.scrollTop - top) < 2 && now() - start > SETTLE_MS) open.delete(name);
    }
    const target = focus === undefined ? null : root.querySelector<HTMLElement>(`[data-focus-key="${CSS.escape(focus)}"]`);
    if (target) {
      target.focus({ preventScroll: true });
      focus = undefined;
    }
    if ((open.size > 0 || focus !== undefined) && now() - start < RESTORE_MS) frame = requestAnimationFrame(attempt);
    else stop();
  }

  if (open.size > 0 || focus !== undefined) {
    for (const input of INPUTS) addEventListener(input, stop, { capture: true, passive: true });
    frame = requestAnimationFrame(attempt);
  }
  return stop;
}
