/** The output panel above the chat bar, as a pure machine: an event and the time in, the next panel out.
 *
 * ```
 * HIDDEN  --message sent-->  VISIBLE        VISIBLE --5 s without content or touch--> HIDDEN
 * VISIBLE --stream active--> VISIBLE (timer starts again)     VISIBLE --click on it--> PINNED
 * PINNED  --click away or dismiss--> HIDDEN                   HIDDEN --Show output--> PINNED
 * ```
 *
 * The caller owns the clock: it calls `step` with `tick` at `panel.deadline`. */
export const IDLE_MS = 5_000;

export type PanelState = 'hidden' | 'visible' | 'pinned';

export interface Panel {
  state: PanelState;
  /** When a visible panel hides. `null` while something keeps it: a stream, a touch, an open matter. */
  deadline: number | null;
  /** True while a stream is open. */
  streaming: boolean;
  /** True while the pointer, the focus or a selection is inside. */
  touched: boolean;
  /** True while it shows an error or a question, which never times out. */
  matter: boolean;
}

export type PanelEvent =
  /** The reader sent a message. */
  | { type: 'sent' }
  /** Something new is in the panel. */
  | { type: 'content' }
  | { type: 'stream'; active: boolean }
  | { type: 'touch'; inside: boolean }
  /** An error or a question came, or the last one was settled. */
  | { type: 'matter'; open: boolean }
  | { type: 'click' }
  | { type: 'click_away' }
  | { type: 'dismiss' }
  | { type: 'show' }
  | { type: 'tick' };

export const hiddenPanel: Panel = { state: 'hidden', deadline: null, streaming: false, touched: false, matter: false };

export function step(panel: Panel, event: PanelEvent, now: number): Panel {
  switch (event.type) {
    case 'sent':
      // A new message settles the error of the last one.
      return timed({ ...panel, state: panel.state === 'pinned' ? 'pinned' : 'visible', matter: false }, now);
    case 'content':
      return timed(panel, now);
    case 'stream':
      return timed({ ...panel, streaming: event.active }, now);
    case 'touch':
      return panel.touched === event.inside ? panel : timed({ ...panel, touched: event.inside }, now);
    case 'matter':
      return panel.matter === event.open ? panel : timed({ ...panel, matter: event.open }, now);
    case 'click':
      return panel.state === 'visible' ? timed({ ...panel, state: 'pinned' }, now) : panel;
    case 'click_away':
      return panel.state === 'pinned' ? hide(panel) : panel;
    case 'dismiss':
      return panel.state === 'hidden' ? panel : hide(panel);
    case 'show':
      return panel.state === 'hidden' ? timed({ ...panel, state: 'pinned' }, now) : panel;
    case 'tick':
      return panel.deadline !== null && now >= panel.deadline ? hide(panel) : panel;
  }
}

/** A hidden panel has no inside, so a touch ends with it; a stream and an open matter go on. */
function hide(panel: Panel): Panel {
  return { ...panel, state: 'hidden', deadline: null, touched: false };
}

function timed(panel: Panel, now: number): Panel {
  const runs = panel.state === 'visible' && !panel.streaming && !panel.touched && !panel.matter;
  return { ...panel, deadline: runs ? now + IDLE_MS : null };
}
