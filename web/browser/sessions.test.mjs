// Sessions: talk, approvals, plans, lost connections.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOST, PHONE, REFUSED, useMasque } from './harness.mjs';
import { until } from './masque.mjs';

const suite = useMasque({ files: { 'notes.txt': 'hello\nworld\n' } });

const message = (page) => page.getByRole('textbox', { name: 'Message', exact: true });
const transcript = (page) => page.getByRole('log');
const status = (page, text) => page.locator('[role=status]', { hasText: text }).waitFor({ state: 'attached' });
const session = (id) => suite.masque.api('GET', `/api/sessions/${id}`);
const times = (text, part) => text.split(part).length - 1;

async function send(page, text) {
  await message(page).fill(text);
  await message(page).press('Enter');
}


/** Allows a call: a yes counts once its first 300 ms are over, so it is repeated until the question is gone. */
async function allow(page, button) {
  await button.waitFor();
  await page.waitForFunction(() => [...document.querySelectorAll('.ask button')].some((one) => /Allow once/.test(one.textContent) && !one.disabled));
  for (let tries = 0; tries < 50 && (await button.isVisible()); tries += 1) {
    await button.click({ timeout: 2_000 }).catch(() => {});
    await button.waitFor({ state: 'hidden', timeout: 1_000 }).catch(() => {});
  }
}

test('a session starts, answers, and its address is the state', () =>
  suite.page({}, async (page) => {
    await page.goto('/sessions');
    await page.getByLabel('Persona').fill('doc_writer');
    await page.getByLabel('First message').fill('Which files are there?');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.waitForURL(/\/sessions\/[0-9a-f-]{36}$/);
    await transcript(page).getByText('There are these files:').waitFor();
    await status(page, 'Done');
    const before = await transcript(page).innerText();
    assert.match(before, /list_files/);
    await page.reload();
    await transcript(page).getByText('There are these files:').waitFor();
    assert.equal(await transcript(page).innerText(), before);
    await page.goBack();
    await page.getByRole('heading', { name: 'Start a session' }).waitFor();
  }));

test('an unknown persona is named beside the form, with what was meant', () =>
  suite.page({ allowed: REFUSED }, async (page) => {
    await page.goto('/sessions?persona=doc_wrter');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('alert').getByText('doc_wrter').waitFor();
    await page.getByRole('button', { name: 'doc_writer' }).click();
    assert.equal(await page.getByLabel('Persona').inputValue(), 'doc_writer');
  }));

test('approve a tool: the call shows its change, waits, and runs once it is allowed', () =>
  suite.page({}, async (page) => {
    const id = await suite.masque.newSession();
    await page.goto(`/sessions/${id}`);
    await send(page, 'Write the greeting');
    const card = page.getByRole('region', { name: 'write_file needs your permission' });
    await card.getByText('Masque', { exact: true }).waitFor();
    assert.match(await card.innerText(), /notes\.txt/);
    assert.doesNotMatch(await page.evaluate(() => document.activeElement?.textContent ?? ''), /Allow/);
    await status(page, 'write_file needs your permission');
    await allow(page, card.getByRole('button', { name: 'Allow once' }));
    await transcript(page).getByText('Written.').waitFor();
    assert.equal((await session(id)).status, 'idle');
  }));

test('a yes in the first 300 ms is not one', () =>
  suite.page({}, async (page) => {
    const id = await suite.masque.newSession();
    await suite.masque.say(id, 'Write the greeting');
    await page.clock.install();
    await page.goto(`/sessions/${id}`);
    const button = page.getByRole('button', { name: 'Allow once' });
    await button.waitFor();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.reload();
    // Time moves a frame at a time until the question is there, so that it is young when the click comes.
    await until(async () => (await page.clock.runFor(16), await button.isVisible()), 'the question never came');
    await button.click();
    await button.press('Enter');
    assert.equal((await session(id)).status, 'waiting');
    await page.clock.runFor(400);
    await button.click();
    await page.clock.resume();
    await transcript(page).getByText('Written.').waitFor();
  }));

test('allowing for the session asks no more, refusing tells the persona why', () =>
  suite.page({}, async (page) => {
    const id = await suite.masque.newSession();
    await suite.masque.say(id, 'Do both');
    await page.goto(`/sessions/${id}`);
    await page.getByRole('region', { name: 'write_file needs your permission' }).getByText('1 of 2').waitFor();
    await allow(page, page.getByRole('button', { name: 'Allow write_file for this session' }));
    const second = page.getByRole('region', { name: 'run_command needs your permission' });
    await second.getByText('ls && echo done').waitFor();
    await second.getByRole('button', { name: 'Refuse…' }).click();
    await page.getByLabel('Why not?').fill('Not here.');
    await page.getByRole('button', { name: 'Refuse', exact: true }).click();
    await transcript(page).getByText('refused by you').waitFor();
    const refused = (await session(id)).turns.find((turn) => turn.refusal === 'rejected_by_user');
    assert.match(refused.output, /Not here\./);
    await status(page, 'Done');
    await send(page, 'Write the greeting');
    await page.waitForFunction(() => document.querySelector('[role=log]').innerText.split('Written.').length === 3);
    assert.equal(await page.locator('.ask').count(), 0);
  }));

test('a plan is a document that is approved by its hash, or sent back', () =>
  suite.page({}, async (page) => {
    const id = await suite.masque.newSession({ mode: 'plan' });
    await page.goto(`/sessions/${id}`);
    await send(page, 'Plan the greeting');
    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByRole('heading', { name: 'A new greeting' }).waitFor();
    await plan.getByRole('button', { name: 'Send back…' }).click();
    await plan.getByLabel('What should change?').fill('Plan the greeting again, shorter.');
    await plan.getByRole('button', { name: 'Send back' }).click();
    await page.getByText('again, shorter').first().waitFor();
    const approve = plan.getByRole('button', { name: 'Approve and carry out' });
    await approve.waitFor();
    const asked = page.waitForRequest((request) => request.url().endsWith('/plan') && request.postDataJSON().decision === 'approve');
    for (let tries = 0; tries < 50 && (await approve.isVisible()); tries += 1) {
      await approve.click({ timeout: 2_000 }).catch(() => {});
      await approve.waitFor({ state: 'hidden', timeout: 1_000 }).catch(() => {});
    }
    const { hash } = (await asked).postDataJSON();
    await page.getByRole('region', { name: 'write_file needs your permission' }).waitFor();
    const view = await session(id);
    assert.deepEqual([view.mode, view.plan.status, view.plan.hash], ['build', 'approved', hash]);
  }));

test('drop the connection and come back without a lost or doubled turn', async () => {
  const line = await suite.masque.line();
  try {
    await suite.page({ origin: line.origin, allowed: LOST }, async (page) => {
      const id = await suite.masque.newSession();
      const resumed = [];
      page.on('request', (request) => request.url().includes(`${id}/events`) && resumed.push(request.headers()['last-event-id']));
      await page.goto(`/sessions/${id}`);
      await send(page, 'Count slowly');
      await transcript(page).getByText('three').waitFor();
      line.cut();
      await page.getByText('The connection is lost.').first().waitFor();
      await status(page, 'Done');
      const text = await transcript(page).innerText();
      for (const word of ['Count slowly', ' five ', ' fifteen ', 'thirty']) assert.equal(times(text, word), 1, word);
      assert.ok(resumed.length >= 2 && /^\d+(\.\d+)?$/.test(resumed[1]), `resumed at ${resumed}`);
      assert.deepEqual((await session(id)).turns.map(({ type }) => type), ['user', 'assistant_text']);
    });
  } finally {
    await line.close();
  }
});

test('an answer is stopped, and a message is taken back into the field', () =>
  suite.page({}, async (page) => {
    const id = await suite.masque.newSession();
    await page.goto(`/sessions/${id}`);
    await send(page, 'Count slowly');
    await transcript(page).getByText('three').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped. What was said so far is kept.').waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Take the last message back' }).click();
    await page.waitForFunction(() => document.querySelector('textarea').value === 'Count slowly');
    assert.deepEqual((await session(id)).turns, []);
    // What was typed survives a reload.
    await page.reload();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'Count slowly');
  }));

test('a failure stays beside what caused it', () =>
  suite.page({}, async (page) => {
    const id = await suite.masque.newSession();
    await page.goto(`/sessions/${id}`);
    await send(page, 'Fail now');
    await page.getByRole('alert').getByText('not in the mood').waitFor();
  }));

test('following is a latch that input changes', () =>
  suite.page({ viewport: { width: 1200, height: 500 } }, async (page) => {
    const id = await suite.masque.newSession();
    for (let n = 0; n < 6; n += 1) await suite.masque.say(id, `Line ${n}`);
    await page.goto(`/sessions/${id}`);
    const scroller = transcript(page);
    await scroller.getByText('You said: Line 5').waitFor();
    const atEnd = () => page.waitForFunction(() => { const box = document.querySelector('[role=log]'); return box.scrollTop >= box.scrollHeight - box.clientHeight - 2; });
    const top = () => scroller.evaluate((box) => box.scrollTop);
    await atEnd();
    await send(page, 'Count slowly');
    await scroller.getByText('four').waitFor();
    await scroller.hover();
    const start = await top();
    await page.mouse.wheel(0, -120);
    await page.waitForFunction((from) => document.querySelector('[role=log]').scrollTop < from, start);
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
    const kept = await top();
    await scroller.getByText('nine').waitFor();
    assert.equal(await top(), kept, 'it stays while text streams');
    await page.getByRole('button', { name: 'Jump to latest' }).click();
    await atEnd();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped.').waitFor();
    // A long answer stops once its first line is at the top.
    await send(page, 'Explain at length');
    await scroller.getByText('it shows that you read all of it').waitFor();
    await status(page, 'Done');
    await page.waitForFunction(() => {
      const box = document.querySelector('[role=log]').getBoundingClientRect();
      const heading = [...document.querySelectorAll('[role=log] h1')].find((one) => one.textContent === 'How a review goes').getBoundingClientRect();
      return heading.y >= box.y && heading.y < box.y + 40;
    });
  }));

test('keyboard alone: find a session, allow a call, answer', () =>
  suite.page({}, async (page) => {
    const id = await suite.masque.newSession();
    await suite.masque.say(id, 'Write the greeting');
    await page.goto('/sessions');
    await page.getByRole('link', { name: 'Write the greeting' }).first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('write the');
    await page.waitForURL(/q=write/);
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
    for (let steps = 0; steps < 6 && !/Write the greeting/.test(await focused()); steps += 1) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(/sessions\/[0-9a-f-]{36}/);
    await page.locator('.ask button:not([disabled])', { hasText: 'Allow once' }).waitFor();
    // A yes counts once the question is 300 ms old, so an early one is repeated.
    for (let tries = 0; tries < 30 && (await page.locator('.ask').count()) > 0; tries += 1) {
      await page.keyboard.press('Alt+q');
      for (let steps = 0; steps < 6 && (await focused()) !== 'Allow once'; steps += 1) await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.locator('.ask').waitFor({ state: 'detached', timeout: 1_000 }).catch(() => {});
    }
    await transcript(page).getByText('Written.').waitFor();
    await page.keyboard.press('Control+j');
    await page.keyboard.type('Thanks');
    await page.keyboard.press('Enter');
    await transcript(page).getByText('You said: Thanks').waitFor();
  }));

test('phone width: list and talk come one after the other', () =>
  suite.page({ viewport: PHONE }, async (page) => {
    const id = await suite.masque.newSession();
    await suite.masque.say(id, 'Hello');
    await page.goto(`/sessions/${id}`);
    await transcript(page).getByText('You said: Hello').waitFor();
    await page.getByRole('button', { name: 'Details' }).click();
    await page.getByText('Tokens').waitFor();
    assert.match(page.url(), /details=1/);
    await page.getByRole('link', { name: 'All sessions' }).click();
    await page.getByRole('navigation', { name: 'Sessions' }).waitFor();
  }));

test('settings show what answers and keep the theme', () =>
  suite.page({}, async (page) => {
    await page.goto('/settings');
    await page.getByText('healthy').waitFor();
    await page.getByText('stage', { exact: true }).waitFor();
    await page.getByText('personas.toml').first().waitFor();
    await page.getByLabel('Dark').check();
    await page.reload();
    await page.getByText('healthy').waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  }));
