// The chat bar and its output panel. The test plays the editing agent, so that it holds the clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { end, everywhere, fakeStream, feed, look, origin, useBrowser, withPage } from './browser.mjs';

useBrowser();

const CHAT = '/api/persona-agent/chat';
const bar = (page) => page.getByRole('textbox', { name: 'Tell the page what to change' });
const panel = (page) => page.getByRole('region', { name: 'Output of the chat' });
const TURN = [
  { type: 'text_delta', content: 'I make the tone **dri' },
  { type: 'text_delta', content: 'er**.' },
  { type: 'text_complete', id: 't1', content: 'I make the tone **drier**.' },
  { type: 'tool_call', id: 'c1', toolUseId: 'u1', toolName: 'get_persona', input: {} },
  { type: 'tool_result', id: 'r1', toolUseId: 'u1', output: '{"name":"Doc Writer"}' },
  { type: 'tool_call', id: 'c2', toolUseId: 'u2', toolName: 'update_system_prompt', input: { systemPrompt: 'You write dry documentation.' } },
  { type: 'tool_result', id: 'r2', toolUseId: 'u2', output: 'ok' },
  { type: 'tool_call', id: 'c3', toolUseId: 'u3', toolName: 'create_test_input', input: { content: 'What is 2+2?' } },
  { type: 'tool_result', id: 'r3', toolUseId: 'u3', output: '{"id":"x"}' },
];

/** The rest of the agent's endpoints. `history` may be changed by the test. */
async function agent(page, history = { turns: [] }) {
  const calls = [];
  await fakeStream(page, CHAT);
  await page.route('**/api/persona-agent/**', (route) => {
    const { pathname } = new URL(route.request().url());
    calls.push(pathname);
    if (pathname.endsWith('/history')) return route.fulfill({ json: history });
    if (pathname.endsWith('/clear')) return route.fulfill({ json: { sessionId: 's2' } });
    return route.fulfill({ json: { undone: [{ kind: 'persona', name: 'doc_writer', scope: 'shared' }], kept: [] } });
  });
  await page.route('**/api/storage/personas/**', (route) => route.fulfill({ json: { id: 'doc_writer', name: 'Doc Writer' } }));
  return calls;
}

async function opened(page) {
  await page.goto(`${origin}/personas/doc_writer`);
  await bar(page).waitFor();
}

async function send(page, text) {
  await bar(page).fill(text);
  await bar(page).press('Enter');
}

/** Stops the page's clock, so that only the test moves it. */
async function stopClock(page) {
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1_000));
}

const setup = (history) => async (page) => {
  await page.clock.install();
  await agent(page, history);
};

test('a message shows the panel, which hides 5 s after the answer', () =>
  withPage({ setup: setup() }, async (page) => {
    await opened(page);
    await send(page, 'Make it drier');
    await panel(page).getByText('Make it drier').waitFor();
    await stopClock(page);
    await page.mouse.move(5, 5);
    // While the answer streams it stays, however long that takes.
    await page.clock.runFor(60_000);
    await feed(page, CHAT, ...TURN);
    await page.clock.runFor(60_000);
    assert.equal(await panel(page).isVisible(), true);
    assert.match(await panel(page).innerHTML(), /<strong>drier<\/strong>/);
    await feed(page, CHAT, { type: 'done' });
    await page.clock.runFor(4_900);
    assert.equal(await panel(page).isVisible(), true);
    await page.clock.runFor(200);
    assert.equal(await panel(page).isVisible(), false);
    // Hiding leaves a chip.
    await page.getByText('2 changes ·').waitFor();
  }));

test('a click pins it, a click elsewhere hides it, Show output brings it back', () =>
  withPage({ setup: setup() }, async (page) => {
    await opened(page);
    await send(page, 'Make it drier');
    await feed(page, CHAT, ...TURN, { type: 'done' });
    await panel(page).getByText('update_system_prompt').waitFor();
    await panel(page).getByText('Make it drier').click();
    await page.mouse.move(5, 5);
    await stopClock(page);
    await page.clock.runFor(60_000);
    assert.equal(await panel(page).getAttribute('data-state'), 'pinned');
    await page.mouse.click(700, 60);
    assert.equal(await panel(page).isVisible(), false);
    await page.getByRole('button', { name: 'Show output' }).click();
    await page.clock.runFor(60_000);
    assert.equal(await panel(page).getAttribute('data-state'), 'pinned');
    await page.keyboard.press('Escape');
    assert.equal(await panel(page).isVisible(), false);
    await page.getByRole('button', { name: 'Show output' }).click();
    await page.getByRole('button', { name: 'Hide the output' }).click();
    assert.equal(await panel(page).isVisible(), false);
  }));

test('the pointer or the focus inside keeps it', () =>
  withPage({ setup: setup() }, async (page) => {
    await opened(page);
    await send(page, 'Make it drier');
    await feed(page, CHAT, ...TURN, { type: 'done' });
    await panel(page).getByText('update_system_prompt').hover();
    await stopClock(page);
    await page.clock.runFor(30_000);
    assert.equal(await panel(page).isVisible(), true);
    await page.mouse.move(5, 5);
    await panel(page).getByRole('button', { name: 'Clear' }).focus();
    await page.clock.runFor(30_000);
    assert.equal(await panel(page).isVisible(), true);
    await bar(page).focus();
    await page.clock.runFor(5_100);
    assert.equal(await panel(page).isVisible(), false);
  }));

test('an error never times out, and the chip of a hidden one says so', () =>
  withPage({ setup: setup() }, async (page) => {
    await opened(page);
    await send(page, 'Make it drier');
    await feed(page, CHAT, { type: 'error', message: 'no model answered' });
    await panel(page).getByRole('alert').getByText('no model answered').waitFor();
    await page.mouse.move(5, 5);
    await stopClock(page);
    await page.clock.runFor(600_000);
    assert.equal(await panel(page).isVisible(), true);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Failed · Show why' }).click();
    await panel(page).getByText('no model answered').waitFor();
  }));

test('a turn is undone, a conversation cleared', () =>
  withPage({ setup: async (page) => { page.calls = await agent(page); } }, async (page) => {
    await opened(page);
    await send(page, 'Make it drier');
    await feed(page, CHAT, ...TURN, { type: 'done' });
    await panel(page).getByRole('button', { name: 'Undo this turn' }).click();
    await page.getByText("The agent's last turn is undone.").waitFor();
    assert.equal(await panel(page).getByRole('button', { name: 'Undo this turn' }).count(), 0);
    await panel(page).getByRole('button', { name: 'Clear' }).click();
    await panel(page).getByText('Nothing was said yet').waitFor();
    assert.deepEqual(page.calls.filter((path) => !path.endsWith('history')), ['/api/persona-agent/undo', '/api/persona-agent/clear']);
  }));

test('a proposal changes nothing until it is applied', () =>
  withPage({ setup: setup() }, async (page) => {
    await opened(page);
    await page.getByLabel('Propose only').check();
    await send(page, 'Make it drier');
    await feed(page, CHAT, { type: 'text_complete', id: 't', content: 'I would write “dry”.' }, { type: 'done' });
    await page.getByRole('button', { name: 'Apply the proposal' }).click();
    await page.waitForFunction((part) => window.streams[part].bodies.length === 2, CHAT);
    const bodies = await page.evaluate((part) => window.streams[part].bodies, CHAT);
    assert.deepEqual(bodies, [
      { personaId: 'doc_writer', message: 'Make it drier', plan: true },
      { personaId: 'doc_writer', message: 'Do what you proposed.' },
    ]);
  }));

test('a lost stream is made up for by the history, once', () => {
  const history = { turns: [] };
  return withPage({ setup: (page) => agent(page, history) }, async (page) => {
    await opened(page);
    await send(page, 'Make it drier');
    await feed(page, CHAT, { type: 'text_complete', id: 't1', content: 'I make it drier.' }, { type: 'text_delta', content: 'and the' });
    history.turns = [
      { type: 'user', id: 'm', content: 'Make it drier', createdAt: '2026-01-01T00:00:00Z' },
      { type: 'assistant_text', id: 't1', content: 'I make it drier.', createdAt: '2026-01-01T00:00:01Z' },
      { type: 'assistant_text', id: 't2', content: 'And then it was dry.', createdAt: '2026-01-01T00:00:02Z' },
    ];
    await end(page, CHAT, true);
    await panel(page).getByText('And then it was dry.').waitFor();
    const text = await panel(page).innerText();
    assert.equal(text.split('I make it drier.').length - 1, 1);
    assert.equal(text.split('Make it drier').length - 1, 1);
    assert.doesNotMatch(text, /and the$/m);
  });
});

test('the conversation is there after a reload, and the panel waits to be asked for', () => {
  const turns = [{ type: 'user', id: 'm', content: 'Earlier words', createdAt: '2026-01-01T00:00:00Z' }];
  return withPage({ setup: setup({ turns }) }, async (page) => {
    await opened(page);
    assert.equal(await panel(page).count(), 0);
    await page.getByRole('button', { name: 'Show output' }).click();
    await panel(page).getByText('Earlier words').waitFor();
  });
});

test('a server without the agent says so, and keeps the panel', () =>
  withPage({}, async (page) => {
    await page.route('**/api/persona-agent/**', (route) => route.fulfill({ status: 404, contentType: 'application/problem+json', body: JSON.stringify({ detail: 'no such address', code: 'unknown_address' }) }));
    await opened(page);
    await send(page, 'Make it drier');
    await panel(page).getByText('This server has no editing agent yet').waitFor();
  }));

test('looks right everywhere, and axe finds nothing serious', () =>
  everywhere({ setup: (page) => agent(page) }, async (page) => {
    await opened(page);
    await look(page, 'chat-bar');
    await send(page, 'Make the tone drier, and add a test about sums.');
    await feed(page, CHAT, ...TURN, { type: 'text_complete', id: 't9', content: 'The prompt is drier now, and there is a test input about sums.' }, { type: 'done' });
    await panel(page).getByText('about sums.').last().waitFor();
    await panel(page).getByText('update_system_prompt').click();
    await look(page, 'chat-panel');
    const padding = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--panel-height'));
    assert.ok(Number.parseInt(padding, 10) > 100, `the page knows the height of the panel: ${padding}`);
  }));
