// A server with an empty library, the built page with the policy that the server sends, and a browser.
// MASQUE_BIN names the binary (target/debug/masque by default), CHROMIUM the browser. `npm run build` first.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { preview } from 'vite';
import { answerPreview } from './preview.mjs';

const WEB = fileURLToPath(new URL('..', import.meta.url));
const BINARY = process.env.MASQUE_BIN ?? join(WEB, '../target/debug/masque');
const SCREENSHOTS = process.env.SCREENSHOTS ?? join(WEB, '../target/screenshots');

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

export async function start({ toml = '' } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'masque-browser-'));
  const project = join(home, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'personas.toml'), toml);
  const port = await freePort();
  const env = { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: join(home, 'config'), XDG_DATA_HOME: join(home, 'data') };
  const flags = process.env.MASQUE_FLAGS?.split(' ') ?? [];
  const server = spawn(BINARY, ['serve', '--port', String(port), '--project', project, ...flags], { env, stdio: 'ignore' });
  const api = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 100; tries += 1) {
    if (await fetch(`${api}/healthz`).then((answer) => answer.ok, () => false)) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  process.env.MASQUE_URL = api;
  const page = await preview({ root: WEB, preview: { port: await freePort(), host: '127.0.0.1', strictPort: true, proxy: { '/api': api } }, logLevel: 'silent' });
  const base = page.resolvedUrls.local[0].replace(/\/$/, '');
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  const hasPreview = (await fetch(`${api}/api/preview`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })).status !== 404;

  async function request(method, path, body) {
    const answer = await fetch(api + path, { method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body) });
    const data = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${data.detail}`);
    return data;
  }

  /** A browser context whose pages fail the test on script errors and policy violations. */
  async function context(options = {}) {
    const made = await browser.newContext({ viewport: { width: 1440, height: 900 }, baseURL: base, ...options });
    made.faults = [];
    made.on('page', (opened) => {
      opened.on('pageerror', (error) => made.faults.push(error.message));
      opened.on('console', (message) => {
        if (/Content Security Policy|Refused to/.test(message.text())) made.faults.push(message.text());
      });
    });
    if (!hasPreview) {
      await made.route('**/api/preview', async (route) => route.fulfill({ json: await answerPreview(api, route.request().postDataJSON()) }));
    }
    return made;
  }

  async function stop() {
    await browser.close();
    await page.close();
    server.kill();
    await new Promise((resolve) => server.once('exit', resolve));
    rmSync(home, { recursive: true, force: true });
  }

  async function shot(opened, name) {
    mkdirSync(SCREENSHOTS, { recursive: true });
    await opened.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
  }

  return { base, api, request, context, stop, shot, project };
}
