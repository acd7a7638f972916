// One browser and one server for each file of tests; pages that fail on errors, on messages in the console and on
// violations of the content security policy; pictures, and axe.
// CHROMIUM names the browser (/usr/bin/chromium by default), SCREENSHOTS the directory of the pictures.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { chromium } from 'playwright-core';
import { Masque, ROOT } from './masque.mjs';

export const WIDE = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };
const SCREENSHOTS = process.env.SCREENSHOTS ?? join(ROOT, 'target/screenshots');
/** A machine that runs other work, too, is slow. */
const PATIENCE_MS = Number(process.env.PATIENCE_MS ?? 45_000);
const FLAGS = ['--disable-dev-shm-usage', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
/** The browser's own line for an answer like 404, which a test of a refusal expects. */
export const REFUSED = /Failed to load resource: the server responded with a status of 4\d\d/;
/** Chromium's line for a connection that ended. */
export const LOST = /net::ERR_/;

export async function launch() {
  // Chromium refuses its sandbox to root.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: [...FLAGS, ...sandbox] });
}

/** Call once in a file. `prepare` fills the library. */
export function useMasque(options = {}, prepare = async () => {}) {
  const suite = new Suite();
  before(async () => {
    [suite.masque, suite.browser] = await Promise.all([Masque.start(options), launch()]);
    await prepare(suite.masque);
    suite.cookies = await login(suite.browser, suite.masque.address);
  });
  after(async () => {
    await suite.browser?.close();
    await suite.masque?.stop();
  });
  return suite;
}

/** Opens the printed address, as a person does, and keeps the cookies for the pages of the tests. */
async function login(browser, address) {
  const context = await browser.newContext();
  await (await context.newPage()).goto(address, { waitUntil: 'commit' });
  const { cookies } = await context.storageState();
  await context.close();
  return cookies;
}

let failures = 0;

class Suite {
  /** Opens a page, runs `work(page, context)`, and fails on any fault that `allowed` does not match. */
  async page(options, work) {
    const { viewport = WIDE, allowed = /$^/, origin = this.masque.origin, cookies = this.cookies } = options;
    const touch = viewport.width < 500;
    const context = await this.browser.newContext({ viewport, colorScheme: 'light', reducedMotion: 'reduce', hasTouch: touch, baseURL: origin });
    await context.addCookies(cookies);
    context.setDefaultTimeout(PATIENCE_MS);
    const faults = watch(context);
    await context.exposeFunction('reportViolation', (text) => faults.push(text));
    await context.addInitScript(() => document.addEventListener('securitypolicyviolation', (event) => window.reportViolation(`policy: ${event.violatedDirective} ${event.blockedURI}`)));
    const page = await context.newPage();
    try {
      await work(page, context);
      assert.deepEqual(faults.filter((fault) => !allowed.test(fault)), []);
    } catch (error) {
      if (faults.length > 0) error.message += `\nfaults of the page:\n${faults.join('\n')}`;
      for (const one of context.pages()) await shoot(one, `failed-${process.pid}-${(failures += 1)}`).catch(() => {});
      throw error;
    } finally {
      await context.close();
    }
  }

  /** Runs `work` wide and on a phone. */
  async bothWidths(options, work) {
    for (const viewport of [WIDE, PHONE]) await this.page({ ...options, viewport }, work);
  }
}

function watch(context) {
  const faults = [];
  context.on('weberror', (error) => faults.push(`error: ${error.error().message}`));
  context.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()} ${message.location().url}`);
  });
  context.on('dialog', (dialog) => (faults.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  return faults;
}

export async function shoot(page, name) {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

/** Waits until nothing loads any more. The event stream never ends, so the network is never idle. */
export async function settled(page) {
  await page.locator('main :is(h1, h2, [role=alert]):visible').first().waitFor();
  await page.waitForFunction(() => !document.querySelector('[aria-busy="true"], main .skeleton'));
  await painted(page);
}

const painted = (page) => page.evaluate(() => document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))));

/** Takes a picture in both themes, and fails on barriers and on a page that scrolls sideways. `axe` is false for a
 * variant of a place whose barriers another picture shows. */
export async function look(page, name, { axe = true } = {}) {
  const { width } = page.viewportSize();
  for (const theme of ['light', 'dark']) {
    const where = `${name}-${theme}-${width}`;
    await page.emulateMedia({ colorScheme: theme });
    await painted(page);
    await shoot(page, where);
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wider <= 0, `${where} is ${wider} px too wide`);
    if (!axe) continue;
    // The themes differ in their colours and in nothing else. The dark phone has the colours of one page and the
    // layout of another.
    if (theme === 'light') await noBarrier(where, new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']));
    else if (width !== PHONE.width) await noBarrier(where, new AxeBuilder({ page }).withRules(['color-contrast', 'link-in-text-block']));
  }
}

/** Rows after these look like those before. axe takes milliseconds for each element. */
const CROWD = [':is(li, article, tr, [role=row], .block, [role=toolbar] > button):nth-child(n + 13)'];

async function noBarrier(where, axe) {
  const { violations } = await axe.exclude(CROWD).analyze();
  const serious = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 5).map(({ target, failureSummary }) => `${target} ${failureSummary}`).join('; ')}`);
  assert.deepEqual(serious, [], where);
}
