// Texts of people and models never run, whatever they hold.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { api, end, fakeStream, feed, newSession, origin, say, useBrowser, withPage } from './browser.mjs';

useBrowser();

const PAYLOAD = '<img src=x onerror="window.broken=1"><script>window.broken=2</script><svg onload="window.broken=3">[x](javascript:window.broken=4)"><a href="javascript:window.broken=5">y</a>';

/** Opens places and fails if a payload ran, or if the page asked another host for anything. */
async function unharmed(work, options = {}) {
  await withPage(options, async (page) => {
    const foreign = [];
    page.on('request', (request) => {
      const { origin: host, protocol } = new URL(request.url());
      if (protocol.startsWith('http') && host !== origin) foreign.push(request.url());
    });
    page.on('dialog', (dialog) => (foreign.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
    await work(page);
    // Every link that the page made is followed by a click, as a reader might.
    const links = await page.evaluate(() => [...document.querySelectorAll('a')].map((link) => link.getAttribute('href') ?? ''));
    assert.deepEqual(links.filter((address) => /^\s*(javascript|data|vbscript):/i.test(address)), []);
    await page.waitForTimeout(200);
    assert.equal(await page.evaluate(() => window.broken), undefined);
    assert.deepEqual(foreign, []);
    assert.equal(await page.locator('[onerror], [onload], [onclick], [ontoggle], main iframe, main img, main form[action^="https"]').count(), 0);
  });
}

test('streamed output of a model', () =>
  unharmed(async (page) => {
    const id = await newSession();
    await page.goto(`${origin}/sessions/${id}`);
    const field = page.getByRole('textbox', { name: 'Message', exact: true });
    await field.fill('Break out');
    await field.press('Enter');
    await page.getByText('The end of the payloads.').waitFor();
    await page.locator('[role=status]', { hasText: 'Done' }).waitFor({ state: 'attached' });
    await page.reload();
    await page.getByText('The end of the payloads.').waitFor();
    // The sanitizer reads the payload's style in a document of its own, where the policy refuses it, too.
  }, { allowed: /inline style|style-src/ }));

test('messages, titles, calls and results', () =>
  unharmed(async (page) => {
    const id = await newSession();
    await say(id, `${PAYLOAD} hello`);
    await page.goto(`${origin}/sessions/${id}`);
    await page.getByText('You said:').waitFor();
    await page.goto(`${origin}/sessions?q=${encodeURIComponent(PAYLOAD)}`);
    await page.getByRole('heading', { name: 'Start a session' }).waitFor();
    await page.getByLabel('Persona').fill(PAYLOAD.slice(0, 150));
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('alert').waitFor();
  }));

test('the editing agent: text, calls, results and errors', () => {
  const chat = '/api/persona-agent/chat';
  const setup = async (page) => {
    await fakeStream(page, chat);
    await page.route('**/api/persona-agent/history**', (route) => route.fulfill({ json: { turns: [{ type: 'assistant_text', id: 'h', content: PAYLOAD, createdAt: '2026-01-01T00:00:00Z' }] } }));
  };
  return unharmed(async (page) => {
    await page.goto(`${origin}/personas/doc_writer`);
    const field = page.getByRole('textbox', { name: 'Tell the page what to change' });
    await field.fill(PAYLOAD);
    await field.press('Enter');
    for (const piece of PAYLOAD.match(/.{1,7}/gs)) await feed(page, chat, { type: 'text_delta', content: piece });
    await feed(
      page, chat,
      { type: 'text_complete', id: 't', content: PAYLOAD },
      { type: 'tool_call', id: 'c', toolUseId: 'u', toolName: PAYLOAD, input: { [PAYLOAD]: PAYLOAD } },
      { type: 'tool_result', id: 'r', toolUseId: 'u', output: PAYLOAD, isError: true },
      { type: 'error', message: PAYLOAD },
    );
    await page.getByRole('region', { name: 'Output of the chat' }).getByRole('alert').waitFor();
    await page.locator('details').last().locator('summary').click();
    await end(page, chat).catch(() => {});
  }, { setup });
});

test('every text of a persona and of a test input', async () => {
  const name = 'payload_persona';
  const entity = { name, display_name: PAYLOAD.slice(0, 100), description: PAYLOAD, summary: PAYLOAD, detail: PAYLOAD, system_prompt: PAYLOAD, tags: ['payload'], test_inputs: ['payload_input'] };
  await api('PUT', '/api/library/test_input/payload_input', { entity: { name: 'payload_input', description: PAYLOAD, content: PAYLOAD, expectations: [PAYLOAD] } });
  await api('PUT', `/api/library/persona/${name}`, { entity, message: PAYLOAD });
  await unharmed(async (page) => {
    for (const path of ['/', `/personas/${name}`, `/personas/${name}/history`, `/personas/${name}/tests`, '/library/test_input/payload_input', '/settings', '/sessions']) {
      await page.goto(origin + path);
      await page.waitForLoadState('domcontentloaded');
      await page.waitForTimeout(600);
      assert.equal(await page.evaluate(() => window.broken), undefined, path);
    }
  });
});

test('the policy forbids inline code and frames', async () => {
  const answer = await fetch(origin);
  const policy = answer.headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'self'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval/);
});
