import { describe, expect, test } from 'vitest';
import { hiddenPanel, step, type Panel, type PanelEvent } from './panel';

const EVENTS: Record<string, PanelEvent> = {
  sent: { type: 'sent' },
  content: { type: 'content' },
  open: { type: 'stream', active: true },
  close: { type: 'stream', active: false },
  over: { type: 'touch', inside: true },
  out: { type: 'touch', inside: false },
  error: { type: 'matter', open: true },
  settled: { type: 'matter', open: false },
  click: { type: 'click' },
  away: { type: 'click_away' },
  dismiss: { type: 'dismiss' },
  show: { type: 'show' },
};

/** Plays words such as `sent 4.9s`: a number lets that time pass, with a tick at its end and at every deadline. */
function play(script: string): Panel {
  let panel = hiddenPanel;
  let now = 1_000_000;
  for (const word of script.split(' ').filter(Boolean)) {
    const seconds = /^([\d.]+)s$/.exec(word);
    if (seconds) {
      const until = now + Number(seconds[1]) * 1000;
      if (panel.deadline !== null && panel.deadline <= until) panel = step(panel, { type: 'tick' }, panel.deadline);
      now = until;
      panel = step(panel, { type: 'tick' }, now);
      continue;
    }
    const event = EVENTS[word];
    if (!event) throw new Error(`no event is called ${word}`);
    panel = step(panel, event, now);
  }
  return panel;
}

const cases: Record<string, [script: string, state: Panel['state']][]> = {
  'HIDDEN --message sent--> VISIBLE': [['sent', 'visible']],
  'HIDDEN stays for everything but a message and Show output': [
    ['content', 'hidden'],
    ['open', 'hidden'],
    ['click', 'hidden'],
    ['away', 'hidden'],
    ['dismiss', 'hidden'],
    ['error', 'hidden'],
    ['60s', 'hidden'],
  ],
  'HIDDEN --Show output--> PINNED': [
    ['show', 'pinned'],
    ['show 60s', 'pinned'],
  ],
  'VISIBLE --5 s without content or touch--> HIDDEN': [
    ['sent 4.999s', 'visible'],
    ['sent 5s', 'hidden'],
    ['sent 4s content 4s', 'visible'],
    ['sent 4s content 5s', 'hidden'],
    ['sent 4s sent 4s', 'visible'],
  ],
  'VISIBLE --stream active--> VISIBLE, and the timer starts again at its end': [
    ['sent open 60s', 'visible'],
    ['sent open content 60s close 4.9s', 'visible'],
    ['sent open content 60s close 5s', 'hidden'],
  ],
  'VISIBLE --click on it--> PINNED': [
    ['sent click', 'pinned'],
    ['sent click 60s', 'pinned'],
    ['sent open click close 60s', 'pinned'],
  ],
  'VISIBLE: a click elsewhere changes nothing, dismissing hides': [
    ['sent away', 'visible'],
    ['sent dismiss', 'hidden'],
    ['sent open dismiss content 1s', 'hidden'],
  ],
  'PINNED --click away or dismiss--> HIDDEN': [
    ['sent click away', 'hidden'],
    ['sent click dismiss', 'hidden'],
    ['show away', 'hidden'],
    ['show dismiss', 'hidden'],
  ],
  'PINNED stays for messages, content and clicks': [['show sent open content close click 60s', 'pinned']],
  'hover, focus and a selection inside count as touch': [
    ['sent over 60s', 'visible'],
    ['sent over 60s out 4.9s', 'visible'],
    ['sent over 60s out 5s', 'hidden'],
    ['sent over open close 60s', 'visible'],
  ],
  'errors and approvals never time out': [
    ['sent error 600s', 'visible'],
    ['sent error over out 600s', 'visible'],
    ['sent error settled 4.9s', 'visible'],
    ['sent error settled 5s', 'hidden'],
    ['sent error dismiss', 'hidden'],
    ['sent error sent 5s', 'hidden'],
  ],
  'a touch ends with the panel that was touched': [['sent over dismiss sent 5s', 'hidden']],
};

for (const [name, scripts] of Object.entries(cases)) {
  describe(name, () => {
    test.each(scripts)('%s → %s', (script, state) => expect(play(script).state).toBe(state));
  });
}

test('only a visible panel has a deadline', () => {
  expect(play('sent').deadline).toBe(1_005_000);
  for (const script of ['', 'show', 'sent click', 'sent open', 'sent over', 'sent error', 'sent dismiss']) {
    expect(play(script).deadline, script).toBeNull();
  }
});
