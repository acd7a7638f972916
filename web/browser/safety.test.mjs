// Texts of people and models never run, whatever they hold; the token stays where it belongs.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { REFUSED, settled, useMasque } from './harness.mjs';

const PAYLOAD =
  '<img src=x onerror="window.broken=1"><script>window.broken=2</script><svg onload="window.broken=3"></svg>[x](javascript:window.broken=4)' +
  '"><a href="javascript:window.broken=5">y</a><iframe srcdoc="<script>parent.broken=6</script>"></iframe>[d](data:text/html,<script>window.broken=7</script>)' +
  '<a href="data:text/html,<script>window.broken=8</script>">z</a>![b](https://beacon.example/p.png)';
const SHORT = '<img src=x onerror="window.broken=9">';
/** The sanitizer reads markup in a document of its own, which runs nothing; the policy refuses it there, too. */
const SANITIZED = /assets\/purify|policy: (script-src-attr|style-src-attr|style-src-elem|script-src-elem) inline/;
const suite = useMasque({ flags: ['--verbose'] }, async (masque) => {
  await masque.put('part', 'payload-part', { part_type: 'tone', content: PAYLOAD, summary: PAYLOAD, description: PAYLOAD, tags: [SHORT] });
  await masque.put('trait', 'payload-trait', { trait_type: 'social', instruction: PAYLOAD, description: PAYLOAD });
  await masque.put('skill', 'payload-skill', { description: PAYLOAD, content: PAYLOAD });
  await masque.put('guardrail', 'payload-guardrail', { content: PAYLOAD, description: PAYLOAD });
  await masque.put('arc', 'payload-arc', { summary: PAYLOAD, description: PAYLOAD, stages: [{ name: 'start', order: 1, description: PAYLOAD, condition: PAYLOAD, parts: ['payload-part'] }] });
  await masque.put('test_input', 'payload-input', { description: PAYLOAD, content: PAYLOAD, expectations: [PAYLOAD, { words: { max: 5 }, name: PAYLOAD.slice(0, 100) }] });
  const entity = {
    display_name: PAYLOAD.slice(0, 190), description: PAYLOAD, summary: PAYLOAD, detail: PAYLOAD, system_prompt: PAYLOAD, author: SHORT, license: SHORT, tags: [SHORT], greetings: [PAYLOAD],
    examples: [{ user: PAYLOAD, persona: PAYLOAD }], plan_persona: { instruction: PAYLOAD }, parts: ['payload-part'], traits: ['payload-trait'], skills: ['payload-skill'], guardrails: ['payload-guardrail'], arc: 'payload-arc', test_inputs: ['payload-input'],
  };
  await masque.put('persona', 'payload', entity, { message: PAYLOAD });
  await masque.put('persona', 'payload', { ...entity, system_prompt: `${PAYLOAD} again` }, { message: PAYLOAD });
});

/** Runs `work`, then fails if a payload ran or the page asked another host for anything. */
async function unharmed(work, options = {}) {
  await suite.page(options, async (page) => {
    const foreign = [];
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== suite.masque.origin) foreign.push(request.url());
    });
    const look = async (where) => {
      const found = await page.evaluate(() => ({
        broken: window.broken,
        links: [...document.querySelectorAll('a')].map((link) => link.getAttribute('href') ?? '').filter((address) => /^\s*(javascript|data|vbscript):/i.test(address)),
        handlers: [...document.querySelectorAll('*')].filter((one) => [...one.attributes].some(({ name }) => /^on/i.test(name))).map((one) => one.outerHTML.slice(0, 200)),
        foreign: document.querySelectorAll('iframe, object, embed, main img, main form[action]').length,
      }));
      assert.deepEqual(found, { broken: undefined, links: [], handlers: [], foreign: 0 }, where);
    };
    await work(page, look);
    await look('at the end');
    assert.deepEqual(foreign, []);
  });
}

const PLACES = [
  '/', '/library/part', '/library/test_input', '/personas/payload', '/personas/payload?piece=part:payload-part', '/personas/payload?stage=start', '/personas/payload/history', '/personas/payload/tests',
  '/library/part/payload-part', '/library/trait/payload-trait', '/library/skill/payload-skill', '/library/guardrail/payload-guardrail', '/library/arc/payload-arc', '/library/test_input/payload-input',
  '/library/part/payload-part/history', '/settings', '/sessions', '/sessions?persona=payload', `/?q=${encodeURIComponent(SHORT)}`,
];
test('script, handlers, javascript: and data: addresses in every text field never run', () =>
  unharmed(async (page, look) => {
    for (const path of PLACES) {
      await page.goto(path);
      await settled(page);
      await look(path);
    }
    // Typed, not stored: the form, the preview and the draft of the browser.
    await page.goto('/personas/payload');
    await settled(page);
    for (const field of ['system_prompt', 'summary', 'display_name']) await page.locator(`[data-field="${field}"]`).locator('textarea, input').first().fill(`typed ${PAYLOAD.slice(0, 180)}`);
    await page.locator('.preview').getByText('typed').first().waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('dialog').getByText('Take back').first().waitFor();
    await look('a draft and its diff');
  }));

test('streamed output of a model never runs, as it arrives and after a reload', () =>
  unharmed(
    async (page, look) => {
      const id = await suite.masque.newSession();
      await page.goto(`/sessions/${id}`);
      const field = page.getByRole('textbox', { name: 'Message', exact: true });
      await field.fill('Break out');
      await field.press('Enter');
      await page.getByText('The end of the payloads.').waitFor();
      await page.locator('[role=status]', { hasText: 'Done' }).waitFor({ state: 'attached' });
      await look('streamed');
      await page.reload();
      await page.getByText('The end of the payloads.').waitFor();
      await look('read again');
      await page.goto('/personas/payload');
      const bar = page.getByRole('textbox', { name: 'Tell the page what to change' });
      await bar.fill('Break out');
      await bar.press('Enter');
      await page.getByText('The end of the payloads.').waitFor();
      await look('the editing agent');
    },
    { allowed: SANITIZED },
  ));

test('messages, titles, errors and addresses never run', () =>
  unharmed(
    async (page, look) => {
      const id = await suite.masque.newSession();
      await suite.masque.say(id, `${PAYLOAD} hello`);
      await page.goto(`/sessions/${id}`);
      await page.getByText('You said:').waitFor();
      await look('a message');
      await page.goto(`/sessions?q=${encodeURIComponent(PAYLOAD)}`);
      await page.getByRole('heading', { name: 'Start a session' }).waitFor();
      await page.getByLabel('Persona').fill(SHORT);
      await page.getByRole('button', { name: 'Start' }).click();
      await page.getByRole('alert').first().waitFor();
      await look('an error');
      await page.goto(`/personas/${encodeURIComponent(SHORT)}`);
      await page.getByRole('alert').first().waitFor();
      await look('an address');
    },
    { allowed: new RegExp(`${SANITIZED.source}|${REFUSED.source}`) },
  ));

test('the policy forbids inline code, plug-ins and frames, on the page and on every answer', async () => {
  for (const path of ['/', '/personas/payload', '/api/library/persona', '/nowhere.js']) {
    const answer = await suite.masque.fetch('GET', path);
    const policy = answer.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'self'/, path);
    assert.match(policy, /object-src 'none'/, path);
    assert.match(policy, /base-uri 'none'/, path);
    assert.match(policy, /frame-ancestors 'none'/, path);
    assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval/, path);
    assert.equal(answer.headers.get('x-frame-options'), 'DENY', path);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff', path);
    assert.equal(answer.headers.get('referrer-policy'), 'no-referrer', path);
  }
});

test('the token leaves the address at the first visit, and is in no log, no Referer and no storage of the page', async () => {
  const { token, origin } = suite.masque;
  const referers = [];
  const other = createServer((request, response) => (request.url === '/' && referers.push(request.headers.referer), response.end('<h1>elsewhere</h1>'))).listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  try {
    await suite.page({ cookies: [] }, async (page, context) => {
      const sent = [];
      page.on('request', (request) => sent.push(request));
      await page.goto(`${suite.masque.address}&q=kept`);
      await page.getByRole('searchbox').waitFor();
      assert.equal(page.url(), `${origin}/?q=kept`);
      assert.equal(await page.evaluate(() => history.length <= 2 && document.referrer), '');
      const [cookie] = await context.cookies();
      assert.deepEqual([cookie.value, cookie.httpOnly, cookie.sameSite, cookie.path], [token, true, 'Strict', '/']);
      const seen = await page.evaluate(() => document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage }) + document.documentElement.outerHTML);
      assert.equal(seen.includes(token), false, 'the page never sees the token');
      for (const request of sent.slice(1)) {
        assert.equal(request.url().includes(token), false, request.url());
        assert.equal((await request.allHeaders()).referer, undefined, request.url());
      }
      await page.goto('/personas/payload');
      await settled(page);
      await page.evaluate((address) => (location.href = address), `http://127.0.0.1:${other.address().port}/`);
      await page.getByText('elsewhere').waitFor();
      assert.deepEqual(referers, [undefined]);
    });
  } finally {
    other.close();
  }
  // It prints the address once, at its start, for the person who opens it.
  const after = suite.masque.log.split('Press Ctrl-C')[1] ?? '';
  assert.equal(after.includes(token), false, 'the log has the token');
  for (const name of readdirSync(suite.masque.directory, { recursive: true })) {
    const path = join(suite.masque.directory, name);
    const stat = statSync(path);
    if (!stat.isFile() || !readFileSync(path).includes(token)) continue;
    assert.match(name, /masque\/token$/);
    assert.equal(stat.mode & 0o777, 0o600);
  }
});

test('without the token nothing is served, and other pages neither frame nor call it', async () => {
  const answer = await fetch(`${suite.masque.origin}/api/library/persona`);
  assert.equal(answer.status, 401);
  const other = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<h1>elsewhere</h1><iframe src="${suite.masque.origin}/settings"></iframe><script>fetch('${suite.masque.origin}/api/library/persona', { credentials: 'include' }).then(() => (window.read = true), () => (window.read = false))</script>`);
  }).listen(0, 'localhost');
  await new Promise((resolve) => other.once('listening', resolve));
  try {
    await suite.page({ allowed: /./ }, async (page) => {
      await page.goto(`http://localhost:${other.address().port}/`);
      await page.waitForFunction(() => window.read !== undefined);
      assert.equal(await page.evaluate(() => window.read), false);
      await page.waitForFunction(() => document.readyState === 'complete');
      const [, frame] = page.frames();
      assert.match(frame.url(), /^chrome-error:/);
    });
  } finally {
    other.close();
  }
});
