// What the browser tests share: one browser, pages that fail on errors and on violations of the content
// security policy, screenshots, and axe.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import { after, before } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { chromium } from 'playwright-core';

const server = new URL(process.env.MASQUE_URL ?? 'http://127.0.0.1:4747');
const token = server.searchParams.get('token');
export const origin = server.origin;
export const shots = fileURLToPath(new URL('../../target/screenshots/', import.meta.url));
export const WIDE = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

let browser;

/** Call once per file. */
export function useBrowser() {
  before(async () => {
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
  });
  after(() => browser?.close());
}

/** Opens a page, runs `work` and fails if the page had an error that `allowed` does not match. */
export async function withPage(options, work) {
  const { viewport = WIDE, theme = 'light', allowed = /$^/, setup } = options;
  const context = await browser.newContext({ viewport, colorScheme: theme, reducedMotion: 'reduce', hasTouch: viewport.width < 500 });
  if (token) await context.addCookies([{ name: 'masque_token', value: token, domain: server.hostname, path: '/', httpOnly: true, sameSite: 'Strict' }]);
  const page = await context.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) faults.push(`console: ${message.text()}`);
  });
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener('securitypolicyviolation', (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
  });
  page.setDefaultTimeout(10_000);
  try {
    await setup?.(page);
    await work(page);
    const violations = await page.evaluate(() => window.violations ?? []);
    assert.deepEqual([...faults, ...violations].filter((fault) => !allowed.test(fault)), []);
  } catch (error) {
    mkdirSync(shots, { recursive: true });
    await page.screenshot({ path: `${shots}failed.png` }).catch(() => {});
    throw error;
  } finally {
    await context.close();
  }
}

/** A request to the server, past the page. */
export async function api(method, path, body) {
  const headers = { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...(token ? { authorization: `Bearer ${token}` } : {}) };
  const response = await fetch(origin + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

export async function newSession(more = {}) {
  return (await api('POST', '/api/sessions', { persona: 'doc_writer', ...more })).id;
}

/** Sends a message past the page and waits for the end of its run, or of its first question. */
export async function say(id, content) {
  const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) };
  const body = JSON.stringify({ content, detached: true, approve: 'ask' });
  const response = await fetch(`${origin}/api/sessions/${id}/messages`, { method: 'POST', headers, body });
  await response.body.cancel();
  for (let tries = 0; tries < 100; tries += 1) {
    const { status } = await api('GET', `/api/sessions/${id}`);
    if (status !== 'running') return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the session ${id} still runs`);
}

/** Takes a screenshot and looks for barriers. `name` says what it shows. */
export async function look(page, name) {
  const { width } = page.viewportSize();
  const theme = await page.evaluate(() => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: `${shots}${name}-${theme}-${width}.png` });
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wider <= 0, `${name} at ${width} px is ${wider} px too wide`);
  // Axe takes seconds a page; the dark phone has the colours of one and the layout of another.
  if (theme === 'dark' && width === PHONE.width) return;
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']).analyze();
  const serious = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join('; ')}`);
  assert.deepEqual(serious, [], `${name} in ${theme} at ${width}`);
}

/** Runs `work` in both themes, wide and on a phone. */
export async function everywhere(options, work) {
  for (const theme of ['light', 'dark']) for (const viewport of [WIDE, PHONE]) await withPage({ ...options, theme, viewport }, work);
}

/** The body of an event stream. */
export function events(list) {
  return list.map((event, at) => `id: ${at + 1}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

/** Lets a test play the server of an event stream: requests whose address contains `part` get a stream that
 * the test feeds with `feed(page, part, event)` and ends with `end(page, part)`. */
export async function fakeStream(page, part) {
  await page.addInitScript((wanted) => {
    window.streams ??= {};
    const real = window.fetch;
    window.fetch = (input, init) => {
      const address = String(input.url ?? input);
      if (!address.includes(wanted)) return real(input, init);
      const kept = (window.streams[wanted] ??= { bodies: [], count: 0 });
      kept.bodies.push(init?.body === undefined ? undefined : JSON.parse(init.body));
      const body = new ReadableStream({ start: (controller) => (kept.controller = controller) });
      return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
    };
  }, part);
}

export async function feed(page, part, ...list) {
  await page.waitForFunction((name) => window.streams?.[name]?.controller, part);
  await page.evaluate(
    ([name, all]) => {
      const kept = window.streams[name];
      for (const event of all) {
        kept.count += 1;
        kept.controller.enqueue(new TextEncoder().encode(`id: ${kept.count}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
      }
    },
    [part, list],
  );
}

/** Ends the stream; with `broken`, as a lost connection does. */
export async function end(page, part, broken = false) {
  await page.evaluate(([name, lost]) => (lost ? window.streams[name].controller.error(new TypeError('network error')) : window.streams[name].controller.close()), [part, broken]);
}

/** The server behind a line that the test can cut: `work(address, cut)`. */
export async function withLine(work) {
  const sockets = new Set();
  const line = net.createServer((near) => {
    const far = net.connect(Number(server.port || 80), server.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
  });
  await new Promise((resolve) => line.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${line.address().port}`, () => {
      for (const socket of sockets) socket.destroy();
    });
  } finally {
    for (const socket of sockets) socket.destroy();
    line.close();
  }
}
