// The grid of tests. The test plays the server's test runs, in the shapes of `GET /api/tests/{id}`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everywhere, fakeStream, feed, look, origin, useBrowser, withPage } from './browser.mjs';

useBrowser();

const INPUTS = ['review-off-by-one', 'vague-request', 'empty-diff'];
const MODEL = 'stage/rehearsal';
const expectation = (name, verdict, more = {}) => ({ name, check: 'holds', verdict, ...more });
const cell = (input, state, more = {}) => ({
  input, column: 'now', sample: 0, state, expectations: [], coverage: 1, tokens: 812, ms: 2140, cached: false, ...more,
});
const PASSED = (input, more) =>
  cell(input, 'passed', { reply: 'Two findings. The loop reads one element too many: `i <= len` in store.rs, line 112.', expectations: [expectation('Names the file and line', 'held'), expectation('At most 80 words', 'held', { check: 'words' })], ...more });
const FAILED = (input, more) =>
  cell(input, 'failed', {
    reply: 'Looks good to me!',
    expectations: [expectation('Names the file and line', 'broken', { must: true, reason: 'No place is named.', evidence: 'Looks good to me!' }), expectation('At most 80 words', 'held', { check: 'words' })],
    ...more,
  });
const run = (id, state, cells, column = { column: 'now', revision: 12, model: MODEL }) => ({
  id, persona: 'code_reviewer', state, pass: 0.8, columns: [column], cells, started_at: `2026-11-18T10:00:0${id.at(-1)}Z`,
});

const NOW = run('run-2', 'finished', [PASSED(INPUTS[0], { sample: 0 }), FAILED(INPUTS[0], { sample: 1 }), PASSED(INPUTS[1]), PASSED(INPUTS[2])]);
const OLD = run(
  'run-1', 'finished',
  [FAILED(INPUTS[0]), PASSED(INPUTS[1]), FAILED(INPUTS[2])].map((one) => ({ ...one, column: '11' })),
  { column: '11', revision: 11, model: MODEL, changed: ['part:plain-tone'] },
);

/** A server with these runs; `started` collects the bodies of new ones. */
async function bench(page, runs, started = [], next = []) {
  await page.route('**/api/library/persona/code_reviewer', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), test_inputs: INPUTS } });
  });
  await page.route('**/api/tests**', (route) => {
    const request = route.request();
    const { pathname } = new URL(request.url());
    if (request.method() === 'POST' && pathname === '/api/tests') {
      started.push(request.postDataJSON());
      const made = next[started.length - 1];
      runs.push(made);
      return route.fulfill({ status: 202, headers: { location: `/api/tests/${made.id}` }, json: { id: made.id } });
    }
    if (pathname === '/api/tests') return route.fulfill({ json: { items: runs.toReversed().map((one) => ({ ...one, cells: [] })) } });
    const found = runs.find(({ id }) => pathname.includes(`/${id}`));
    if (!found) return route.fulfill({ status: 404, json: { detail: 'no such run', code: 'unknown_test' } });
    if (pathname.endsWith('/cancel')) {
      found.state = 'cancelled';
      found.cells = found.cells.map((one) => (one.state === 'waiting' || one.state === 'running' ? { ...one, state: 'unfinished' } : one));
    }
    return route.fulfill({ json: found });
  });
}

const address = (query = '') => `${origin}/personas/code_reviewer/tests${query}`;
const at = (page, name) => page.getByRole('gridcell', { name });

test('the last run shows itself, and its address is the state', () =>
  withPage({ setup: (page) => bench(page, [structuredClone(OLD), structuredClone(NOW)]) }, async (page) => {
    await page.goto(address());
    await page.waitForURL(/run=run-2/);
    await page.getByText('3 of 4 pass').first().waitFor();
    await page.goto(address('?run=run-2&run=run-1&show=different'));
    await page.getByText('3 of 4 pass, was 1 of 3 at r11').first().waitFor();
    await page.getByRole('rowheader').first().waitFor();
    assert.equal(await page.getByRole('rowheader').count(), 1);
    await page.getByRole('button', { name: 'Different' }).click();
    await page.waitForURL((url) => !url.search.includes('show'));
    assert.equal(await page.getByRole('rowheader').count(), 3);
  }));

test('cells stream in, a reload keeps them, and the run is stopped', () => {
  const waiting = run('run-3', 'running', INPUTS.map((input) => cell(input, 'waiting', { tokens: 0, ms: 0 })));
  const started = [];
  const setup = async (page) => {
    await bench(page, [], started, [waiting]);
    await fakeStream(page, '/api/tests/run-3/events');
  };
  return withPage({ setup }, async (page) => {
    await page.goto(address());
    await page.getByRole('button', { name: 'Run all' }).click();
    await page.waitForURL(/run=run-3/);
    assert.deepEqual(started, [{ persona: 'code_reviewer' }]);
    const stream = '/api/tests/run-3/events';
    await feed(page, stream, { type: 'cell_started', cell: cell(INPUTS[0], 'running') });
    await at(page, /review-off-by-one.*: running/).waitFor();
    await feed(page, stream, { type: 'cell_finished', cell: PASSED(INPUTS[0]) });
    await at(page, /review-off-by-one.*: pass/).waitFor();
    await page.setViewportSize({ width: 900, height: 700 });
    await at(page, /review-off-by-one.*: pass/).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await at(page, /vague-request.*: unfinished/).waitFor();
    await page.getByRole('button', { name: 'Run all' }).waitFor();
  });
});

test('the keyboard moves, opens and compares', () =>
  withPage({ setup: (page) => bench(page, [structuredClone(OLD), structuredClone(NOW)]) }, async (page) => {
    await page.goto(address('?run=run-2&run=run-1'));
    await at(page, /review-off-by-one, now/).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: /review-off-by-one/ });
    await dialog.getByText('Names the file and line').waitFor();
    await dialog.getByRole('button', { name: 'Next' }).click();
    await dialog.getByText('No place is named.').waitFor();
    await page.keyboard.press('Escape');
    await at(page, /review-off-by-one, now/).focus();
    await page.keyboard.press(' ');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('dialog', { name: 'Compare two cells' }).getByRole('cell', { name: 'broken' }).first().waitFor();
    assert.match(page.url(), /compare=1/);
    await page.goBack();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }));

test('a row and a column run again, with what they are', () => {
  const started = [];
  const again = [run('run-4', 'finished', [PASSED(INPUTS[0])]), run('run-5', 'finished', [PASSED(INPUTS[0], { column: '11' })], OLD.columns[0]), run('run-6', 'finished', OLD.cells, OLD.columns[0])];
  return withPage({ setup: (page) => bench(page, [structuredClone(OLD), structuredClone(NOW)], started, again) }, async (page) => {
    await page.goto(address('?run=run-2&run=run-1'));
    await page.getByRole('button', { name: 'Run review-off-by-one' }).click();
    await at(page, /review-off-by-one, now.*: pass/).waitFor();
    await page.getByRole('button', { name: 'Run the column r11' }).click();
    await page.waitForURL(/run-6/);
    assert.deepEqual(started, [
      { persona: 'code_reviewer', model: MODEL, inputs: [INPUTS[0]] },
      { persona: 'code_reviewer', revision: '11', model: MODEL, inputs: [INPUTS[0]] },
      { persona: 'code_reviewer', revision: '11', model: MODEL },
    ]);
  });
});

test('a server without test runs says so', () =>
  withPage({}, async (page) => {
    await page.route('**/api/tests**', (route) => route.fulfill({ status: 404, json: { detail: 'no such address', code: 'unknown_address' } }));
    await page.goto(address());
    await page.getByText('This server cannot run tests').waitFor();
    await page.getByRole('link', { name: 'review-off-by-one' }).waitFor();
  }));

test('looks right everywhere, and axe finds nothing serious', () =>
  everywhere({ setup: (page) => bench(page, [structuredClone(OLD), structuredClone(NOW)]) }, async (page) => {
    await page.goto(address('?run=run-2&run=run-1'));
    await page.getByText('3 of 4 pass').first().waitFor();
    await look(page, 'tests');
    await at(page, /review-off-by-one, now/).press('Enter');
    await page.getByRole('dialog').waitFor();
    await look(page, 'tests-cell');
  }));
