// Sessions in a real browser against a real server whose model follows talk.toml.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { api, everywhere, look, newSession, origin, say, useBrowser, withLine, withPage, PHONE } from './browser.mjs';

useBrowser();

const message = (page) => page.getByRole('textbox', { name: 'Message', exact: true });
const transcript = (page) => page.getByRole('log');
/** Waits until a yes counts: the change is shown, and the first 300 ms are over. */
async function armed(page) {
  await page.locator('.ask button:not([disabled])', { hasText: 'Allow once' }).waitFor();
  await page.waitForTimeout(450);
}
const open = (page, id) => page.goto(`${origin}/sessions/${id}`);

test('starts a session, answers, and the address is the state', () =>
  withPage({}, async (page) => {
    await page.goto(`${origin}/sessions`);
    await page.getByLabel('Persona').fill('doc_writer');
    await page.getByLabel('First message').fill('Which files are there?');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.waitForURL(/\/sessions\/[0-9a-f-]{36}$/);
    await transcript(page).getByText('There are these files:').waitFor();
    assert.match(await transcript(page).innerText(), /list_files/);
    const before = await transcript(page).innerText();
    await page.reload();
    await transcript(page).getByText('There are these files:').waitFor();
    assert.equal(await transcript(page).innerText(), before);
    await page.goBack();
    await page.getByRole('heading', { name: 'Start a session' }).waitFor();
  }));

test('an unknown persona is named beside the form, with what was meant', () =>
  withPage({}, async (page) => {
    await page.goto(`${origin}/sessions?persona=doc_wrter`);
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('alert').getByText('doc_wrter').waitFor();
    await page.getByRole('button', { name: 'doc_writer' }).click();
    assert.equal(await page.getByLabel('Persona').inputValue(), 'doc_writer');
  }));

test('a call that needs permission shows its change, waits, and runs once allowed', () =>
  withPage({}, async (page) => {
    const id = await newSession();
    await open(page, id);
    await message(page).fill('Write the greeting');
    await message(page).press('Enter');
    const card = page.getByRole('region', { name: 'write_file needs your permission' });
    await card.getByText('Masque', { exact: true }).waitFor();
    assert.match(await card.innerText(), /notes\.txt/);
    const focused = await page.evaluate(() => document.activeElement?.textContent ?? '');
    assert.doesNotMatch(focused, /Allow/);
    await page.locator('[role=status]', { hasText: 'write_file needs your permission' }).waitFor({ state: 'attached' });
    await armed(page);
    await card.getByRole('button', { name: 'Allow once' }).click();
    await transcript(page).getByText('Written.').waitFor();
    assert.equal((await api('GET', `/api/sessions/${id}`)).status, 'idle');
  }));

test('a yes in the first 300 ms is not one', () =>
  withPage({}, async (page) => {
    const id = await newSession();
    await say(id, 'Write the greeting');
    await page.clock.install();
    await open(page, id);
    const allow = page.getByRole('button', { name: 'Allow once' });
    await allow.waitFor();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.reload();
    await page.clock.runFor(500);
    await allow.waitFor();
    await page.clock.runFor(20);
    await allow.click();
    await allow.press('Enter');
    assert.equal((await api('GET', `/api/sessions/${id}`)).status, 'waiting');
    await page.clock.runFor(400);
    await allow.click();
    await page.clock.resume();
    await transcript(page).getByText('Written.').waitFor();
  }));

test('allowing for the session asks no more, refusing tells the persona why', () =>
  withPage({}, async (page) => {
    const id = await newSession();
    await say(id, 'Do both');
    await open(page, id);
    await page.getByRole('region', { name: 'write_file needs your permission' }).getByText('1 of 2').waitFor();
    await armed(page);
    await page.getByRole('button', { name: 'Allow write_file for this session' }).click();
    const second = page.getByRole('region', { name: 'run_command needs your permission' });
    await second.getByText('ls && echo done').waitFor();
    await second.getByRole('button', { name: 'Refuse…' }).click();
    await page.getByLabel('Why not?').fill('Not here.');
    await page.getByRole('button', { name: 'Refuse', exact: true }).click();
    await transcript(page).getByText('refused by you').waitFor();
    const { turns } = await api('GET', `/api/sessions/${id}`);
    const refused = turns.find((turn) => turn.refusal === 'rejected_by_user');
    assert.match(refused.output, /Not here\./);
    await message(page).fill('Write the greeting');
    await message(page).press('Enter');
    await transcript(page).getByText('Written.').last().waitFor();
    await page.waitForFunction(() => !document.querySelector('.ask'));
  }));

test('a plan is a document that is approved by its hash, or sent back', () =>
  withPage({}, async (page) => {
    const id = await newSession({ mode: 'plan' });
    await open(page, id);
    await message(page).fill('Plan the greeting');
    await message(page).press('Enter');
    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByRole('heading', { name: 'A new greeting' }).waitFor();
    await look(page, 'session-plan');
    await plan.getByRole('button', { name: 'Send back…' }).click();
    await plan.getByLabel('What should change?').fill('Plan the greeting again, shorter.');
    await plan.getByRole('button', { name: 'Send back' }).click();
    await page.getByText('again, shorter').first().waitFor();
    await plan.getByRole('button', { name: 'Approve and carry out' }).waitFor();
    let body;
    await page.route('**/plan', (route) => ((body = route.request().postDataJSON()), route.continue()));
    const { hash } = (await api('GET', `/api/sessions/${id}`)).plan;
    await page.waitForTimeout(400);
    await plan.getByRole('button', { name: 'Approve and carry out' }).click();
    await page.getByRole('region', { name: 'write_file needs your permission' }).waitFor();
    assert.deepEqual(body, { decision: 'approve', hash });
    const view = await api('GET', `/api/sessions/${id}`);
    assert.deepEqual([view.mode, view.plan.status], ['build', 'approved']);
  }));

test('a dropped connection loses and doubles nothing', () =>
  withLine((line, cut) =>
    withPage({ allowed: /ERR_/ }, async (page) => {
      const id = await newSession();
      const resumed = [];
      page.on('request', (request) => request.url().includes(`${id}/events`) && resumed.push(request.headers()['last-event-id']));
      await page.goto(`${line}/sessions/${id}`);
      await message(page).fill('Count slowly');
      await message(page).press('Enter');
      await transcript(page).getByText('three').waitFor();
      cut();
      await page.getByText('The connection is lost.').first().waitFor();
      await transcript(page).getByText('fifteen').waitFor();
      await page.locator('[role=status]', { hasText: 'Done' }).waitFor({ state: 'attached', timeout: 20_000 });
      const text = await transcript(page).innerText();
      for (const word of ['Count slowly', ' five ', ' fifteen ', 'thirty']) assert.equal(text.split(word).length - 1, 1, word);
      assert.ok(resumed.length === 2 && /^\d+\.\d+$/.test(resumed[1]), `resumed at ${resumed}`);
      const { turns } = await api('GET', `/api/sessions/${id}`);
      assert.deepEqual(turns.map(({ type }) => type), ['user', 'assistant_text']);
    }),
  ));

test('a stream that breaks off in the middle resumes with Last-Event-ID', () =>
  withPage({ allowed: /ERR_|terminated/ }, async (page) => {
    const id = await newSession();
    const asked = [];
    let cut = 0;
    await page.route('**/events', async (route) => {
      if (!route.request().url().includes(id)) return route.continue();
      asked.push(route.request().headers()['last-event-id']);
      cut += 1;
      if (cut > 1) return route.continue();
      // The first connection brings the beginning of a run and ends in the middle of an event.
      const beginning = 'id: 1\nevent: user\ndata: {"type":"user","id":"u1","content":"Which files?"}\n\nid: 1.1\nevent: text_delta\ndata: {"type":"text_delta","content":"half a sen"}\n\nid: 2\nevent: text_del';
      return route.fulfill({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: beginning });
    });
    await open(page, id);
    await transcript(page).getByText('half a sen').waitFor();
    await page.waitForFunction(() => performance.getEntriesByType('resource').filter(({ name }) => name.includes('/events')).length >= 2, undefined, { timeout: 10_000 });
    assert.equal(asked[0], '0');
    assert.equal(asked[1], '1.1');
  }));

test('an answer is stopped, and a message is taken back into the field', () =>
  withPage({}, async (page) => {
    const id = await newSession();
    await open(page, id);
    await message(page).fill('Count slowly');
    await message(page).press('Enter');
    await transcript(page).getByText('three').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped. What was said so far is kept.').waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Take the last message back' }).click();
    await page.waitForFunction(() => document.querySelector('textarea').value === 'Count slowly');
    assert.deepEqual((await api('GET', `/api/sessions/${id}`)).turns, []);
    // What was typed survives a reload.
    await page.reload();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'Count slowly');
  }));

test('a failure stays beside what caused it', () =>
  withPage({}, async (page) => {
    const id = await newSession();
    await open(page, id);
    await message(page).fill('Fail now');
    await message(page).press('Enter');
    await page.getByRole('alert').getByText('not in the mood').waitFor();
  }));

test('following is a latch', () =>
  withPage({ viewport: { width: 1200, height: 500 } }, async (page) => {
    const id = await newSession();
    for (let n = 0; n < 6; n += 1) await say(id, `Line ${n}`);
    await open(page, id);
    const scroller = transcript(page);
    await scroller.getByText('You said: Line 5').waitFor();
    const top = () => scroller.evaluate((box) => box.scrollTop);
    const end = () => scroller.evaluate((box) => box.scrollHeight - box.clientHeight);
    await page.waitForFunction(() => { const box = document.querySelector('[role=log]'); return box.scrollTop >= box.scrollHeight - box.clientHeight - 2; });
    await message(page).fill('Count slowly');
    await message(page).press('Enter');
    await scroller.getByText('four').waitFor();
    await scroller.hover();
    await page.mouse.wheel(0, -120);
    await page.waitForTimeout(200);
    const kept = await top();
    await page.waitForTimeout(800);
    assert.equal(await top(), kept, 'stays while text streams');
    await page.getByRole('button', { name: 'Jump to latest' }).click();
    await page.waitForTimeout(100);
    assert.ok((await end()) - (await top()) <= 2);
    // A long answer stops once its first line is at the top.
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped.').waitFor();
    await message(page).fill('Explain at length');
    await message(page).press('Enter');
    await scroller.getByText('it shows that you read all of it').waitFor();
    await page.waitForTimeout(300);
    const heading = scroller.getByRole('heading', { name: 'How a review goes' });
    const box = await heading.boundingBox();
    const frame = await scroller.boundingBox();
    assert.ok(box.y >= frame.y && box.y < frame.y + 40, `the first line is at the top, not at ${box.y - frame.y}`);
  }));

test('a session is used by keyboard alone', () =>
  withPage({}, async (page) => {
    const id = await newSession();
    await say(id, 'Write the greeting');
    await page.goto(`${origin}/sessions`);
    await page.getByRole('link', { name: 'Write the greeting' }).first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('write the');
    await page.waitForURL(/q=write/);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(/sessions\/[0-9a-f-]{36}/);
    await armed(page);
    await page.keyboard.press('Alt+q');
    for (let steps = 0; steps < 6; steps += 1) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate(() => document.activeElement?.textContent?.trim())) === 'Allow once') break;
    }
    await page.keyboard.press('Enter');
    await transcript(page).getByText('Written.').waitFor();
    await page.keyboard.press('Control+j');
    await page.keyboard.type('Thanks');
    await page.keyboard.press('Enter');
    await transcript(page).getByText('You said: Thanks').waitFor();
  }));

test('looks right everywhere, and axe finds nothing serious', async () => {
  const talk = await newSession();
  await say(talk, 'Which files are there?');
  await say(talk, 'Explain at length');
  const asks = await newSession();
  await say(asks, 'Change the greeting');
  const plan = await newSession({ mode: 'plan' });
  await say(plan, 'Plan the greeting');
  await everywhere({}, async (page) => {
    await page.goto(`${origin}/sessions`);
    await page.getByRole('heading', { name: 'Start a session' }).waitFor();
    await page.getByText('Waiting for you').waitFor();
    await look(page, 'sessions');
    await open(page, talk);
    await transcript(page).getByText('You read all of it', { exact: false }).or(transcript(page).getByText('it shows that you read')).first().waitFor();
    await look(page, 'session');
    await open(page, asks);
    await page.getByRole('button', { name: 'Allow once' }).waitFor();
    await look(page, 'session-approval');
    await open(page, plan);
    await page.getByRole('heading', { name: 'A new greeting' }).waitFor();
    await look(page, 'session-plan');
    await page.goto(`${origin}/sessions/00000000-0000-0000-0000-000000000000`);
    await page.getByRole('alert').waitFor();
    await look(page, 'session-missing');
  });
});

test('a phone shows list and talk one after the other', () =>
  withPage({ viewport: PHONE }, async (page) => {
    const id = await newSession();
    await say(id, 'Hello');
    await open(page, id);
    await transcript(page).getByText('You said: Hello').waitFor();
    await page.getByRole('button', { name: 'Details' }).click();
    await page.getByText('Tokens').waitFor();
    assert.match(page.url(), /details=1/);
    await page.getByRole('link', { name: 'All sessions' }).click();
    await page.getByRole('navigation', { name: 'Sessions' }).waitFor();
  }));
