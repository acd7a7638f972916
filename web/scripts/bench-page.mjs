// Measures the library place in chromium: first paint, and the frames while somebody types into the search.
// `node scripts/bench-page.mjs ADDRESS` with the address that `masque serve` prints; `cargo xtask bench http` runs
// it with 20,000 personas. Prints one JSON object. CHROMIUM names the browser (/usr/bin/chromium by default).
import { chromium } from 'playwright-core';

const FLAGS = ['--disable-dev-shm-usage', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
const VISITS = 5;
/** Typed and deleted again, a key at a time. */
const TEXTS = ['review every change', 'plain words for a team', 'p0012'];
/** A quick typist. */
const KEY_MS = 120;
const SETTLE_MS = 600;
const SEARCH = 'input[type=search]';
const ITEM = 'main [data-focus-key]';

/** chromium's trace of its tasks, with their processor time. */
const TASKS = { categories: ['toplevel', '__metadata'], name: /RunTask$/, thread: 'CrRendererMain' };
/** The same typing into a page with nothing else shows what the machine takes. */
const BARE = '<!doctype html><title>bare</title><main><input type="search"></main>';

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Runs in the page before its scripts: keeps the time between frames. */
function watchFrames() {
  window.frames_ms = [];
  let before = performance.now();
  const frame = (now) => {
    window.frames_ms.push(now - before);
    before = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

/** One first visit: nothing is cached. */
async function visit(browser, origin, cookies) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addCookies(cookies);
  await context.addInitScript(watchFrames);
  const page = await context.newPage();
  await page.goto(origin);
  await page.locator(ITEM).first().waitFor();
  const personasMs = await page.evaluate(() => performance.now());
  const { paintMs, bytes } = await page.evaluate(() => ({
    paintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
    bytes: [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].reduce((sum, one) => sum + one.transferSize, 0),
  }));
  return { context, page, paintMs, personasMs, bytes };
}

/** Types the texts. Calls `answered(text)` before each, and waits for what it returns after it. */
async function type(page, answered) {
  await page.locator(SEARCH).click();
  await pause(SETTLE_MS);
  await page.evaluate(() => (window.frames_ms.length = 0));
  const results = [];
  for (const text of TEXTS) {
    const answer = answered(text);
    await page.keyboard.type(text, { delay: KEY_MS });
    // A key is down for so long, and its letter is there from the beginning.
    const started = performance.now() - KEY_MS;
    await answer;
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    results.push(performance.now() - started);
    await pause(SETTLE_MS);
    for (let left = text.length; left > 0; left -= 1) await page.keyboard.press('Backspace', { delay: KEY_MS / 4 });
    await pause(SETTLE_MS);
  }
  return { frames: await page.evaluate(() => window.frames_ms), results };
}

/** The most processor time that one task of a page's main thread takes while `work` runs. */
async function longestTask(browser, page, work) {
  await browser.startTracing(page, { categories: TASKS.categories });
  const done = await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const threads = new Set(traceEvents.filter((one) => one.name === 'thread_name' && one.args.name === TASKS.thread).map((one) => `${one.pid} ${one.tid}`));
  const tasks = traceEvents.filter((one) => TASKS.name.test(one.name) && threads.has(`${one.pid} ${one.tid}`));
  if (tasks.length === 0) throw new Error('the trace has no tasks');
  return { ...done, taskMs: Math.max(...tasks.map((one) => (one.tdur ?? 0) / 1000)) };
}

const address = process.argv[2];
if (!address) {
  console.error('usage: node scripts/bench-page.mjs http://127.0.0.1:PORT/?token=TOKEN');
  process.exit(2);
}
// Chromium refuses its sandbox to root.
const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: [...FLAGS, ...sandbox] });
try {
  const login = await browser.newContext();
  await (await login.newPage()).goto(address, { waitUntil: 'commit' });
  const { cookies } = await login.storageState();
  await login.close();
  const { origin } = new URL(address);
  const visits = [];
  // The first visit starts the browser's processes and is not counted.
  for (let number = 0; number <= VISITS; number += 1) {
    const { context, ...measured } = await visit(browser, origin, cookies);
    if (number > 0) visits.push(measured);
    if (number < VISITS) await context.close();
  }
  const { page } = visits.at(-1);
  const answered = (text) => page.waitForResponse((response) => new URL(response.url()).searchParams.get('query') === text);
  const { frames, results, taskMs } = await longestTask(browser, page, () => type(page, answered));
  const empty = await browser.newPage();
  await empty.addInitScript(watchFrames);
  await empty.goto(`data:text/html,${encodeURIComponent(BARE)}`);
  const bare = await type(empty, async () => {});
  console.log(
    JSON.stringify({
      first_paint_ms: median(visits.map((one) => one.paintMs)),
      first_personas_ms: median(visits.map((one) => one.personasMs)),
      kilobytes: median(visits.map((one) => one.bytes)) / 1024,
      frames: frames.length,
      longest_frame_ms: Math.max(...frames),
      bare_longest_frame_ms: Math.max(...bare.frames),
      longest_task_ms: taskMs,
      results_ms: median(results),
    }),
  );
} finally {
  await browser.close();
}
