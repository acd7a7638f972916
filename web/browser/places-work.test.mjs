// Every other place, looked at: tests, sessions, settings, and the page without a library, a model or a server.
import { test } from 'node:test';
import { LOST, REFUSED, WIDE, look, settled, useMasque } from './harness.mjs';
import { Masque } from './masque.mjs';
import { TOML, fill, image, shown } from './places.mjs';

const at = {};
const suite = useMasque({ toml: TOML, files: { 'notes.txt': 'hello\nworld\n' } }, async (masque) => {
  await fill(masque);
  at.grid = `/personas/stargazer/tests?run=${await masque.test({ persona: 'stargazer', a: 'production' }, '/api/compare')}`;
  const said = async (session, ...messages) => {
    const id = await masque.newSession(session);
    for (const message of messages) await masque.say(id, message);
    return `/sessions/${id}`;
  };
  at.talk = await said({ persona: 'house_reviewer' }, 'Which files are there?', 'Explain at length');
  at.asks = await said({}, 'Change the greeting');
  at.plan = await said({ mode: 'plan' }, 'Plan the greeting');
  at.failed = await said({}, 'Fail now');
});

const passed = (page) => page.getByText('6 of 6 pass').first().waitFor();
shown(suite, 'tests', () => at.grid, { ready: passed });
shown(suite, 'tests-cell', () => at.grid, {
  ready: async (page) => {
    await page.getByRole('gridcell').first().press('Enter');
    await page.getByRole('dialog').waitFor();
  },
});
shown(suite, 'tests-none', '/personas/code_reviewer/tests');
shown(suite, 'sessions', '/sessions', { ready: (page) => page.getByText('Waiting for you').first().waitFor() });
shown(suite, 'session', () => at.talk, { ready: (page) => page.getByText('it shows that you read').waitFor() });
const asks = (page) => page.getByRole('button', { name: 'Allow once' }).waitFor();
shown(suite, 'session-approval', () => at.asks, { ready: asks });
shown(suite, 'session-plan', () => at.plan, { ready: (page) => page.getByRole('heading', { name: 'A new greeting' }).waitFor() });
shown(suite, 'session-failed', () => at.failed, { ready: (page) => page.getByText('not in the mood').first().waitFor() });
shown(suite, 'session-missing', '/sessions/00000000-0000-0000-0000-000000000000', { ready: (page) => page.getByRole('alert').first().waitFor(), allowed: REFUSED });
shown(suite, 'settings', '/settings', { ready: (page) => page.getByText('healthy').waitFor() });
shown(suite, 'nowhere', '/nowhere');

test('an empty library without a model: wide, on a phone, in both themes, without barriers', async () => {
  const empty = await Masque.start({ script: null });
  const cookies = [{ name: 'masque_token', value: empty.token, domain: '127.0.0.1', path: '/', httpOnly: true, sameSite: 'Strict' }];
  try {
    await suite.bothWidths({ origin: empty.origin, cookies }, async (page) => {
      for (const [name, path] of Object.entries({ 'empty-library': '/', 'empty-sessions': '/sessions', 'empty-settings': '/settings', 'empty-test-inputs': '/library/test_input', 'empty-conflicts': '/conflicts' })) {
        await page.goto(path);
        await settled(page);
        if (name === 'empty-library') {
          await page.locator('.shown .block').first().waitFor({ state: 'attached' });
          await page.getByText('answers are scripted: no model is set up').waitFor();
          if (page.viewportSize().width === WIDE.width) await page.getByRole('link', { name: 'Rehearsal' }).waitFor();
        }
        await look(page, name);
      }
    });
  } finally {
    await empty.stop();
  }
});

const PAGES = { library: '/', persona: '/personas/stargazer', history: '/personas/stargazer/history', tests: '/personas/stargazer/tests', sessions: '/sessions', session: () => at.talk, settings: '/settings' };
const READS = /\/api\/(?!events)/;

test('a server that takes its time: every place holds its room', () =>
  suite.bothWidths({ allowed: LOST }, async (page) => {
    await page.route(READS, () => {});
    for (const [name, address] of Object.entries(PAGES)) {
      await page.goto(typeof address === 'function' ? address() : address);
      await page.locator('main').locator('.skeleton, [aria-busy], h1, h2').first().waitFor({ state: 'attached' });
      await look(page, `loading-${name}`, { axe: page.viewportSize().width === WIDE.width });
    }
  }));

test('a server that fails: every place says so in the sentence that it sent', () =>
  suite.bothWidths({ allowed: /status of 500|net::/ }, async (page) => {
    const problem = { code: 'broken', message: 'The disk is full; make room and try again.' };
    await page.route(READS, (route) => route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify({ type: 'about:blank', title: 'Broken', status: 500, detail: problem.message, ...problem }) }));
    for (const [name, address] of Object.entries(PAGES)) {
      await page.goto(typeof address === 'function' ? address() : address);
      await page.getByText('The disk is full').locator('visible=true').first().waitFor();
      await look(page, `failing-${name}`, { axe: page.viewportSize().width === WIDE.width });
    }
    await page.goto(PAGES.persona);
    await page.getByRole('alert').first().waitFor();
    await page.unroute(READS);
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByLabel('System prompt', { exact: true }).waitFor();
  }));

test('a server that is gone: the page says so', async () => {
  const line = await suite.masque.line();
  try {
    await suite.bothWidths({ origin: line.origin, allowed: LOST }, async (page) => {
      if (!line.server.listening) await line.open();
      await page.goto(line.origin);
      await settled(page);
      await line.close();
      await page.getByText(/connection|offline|not answer|reach/i).first().waitFor();
      await look(page, 'server-gone');
    });
  } finally {
    line.cut();
    line.server.close();
  }
});

image(suite, 'tests', () => at.grid, passed);
image(suite, 'session', () => at.asks, asks);
