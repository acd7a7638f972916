// The chat bar and its output panel, with the real editing agent. A held line is a stream that says nothing, so
// that the test has every clock in its hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOST, REFUSED, useMasque } from './harness.mjs';

const NAMES = ['timed', 'pinned', 'touched', 'failing', 'renamed', 'undone', 'lost', 'kept', 'beside', 'clashing', 'behind', 'reviewed'];
const suite = useMasque({}, async (masque) => {
  for (const name of NAMES) await masque.put('persona', name, { display_name: 'Ada', system_prompt: 'You write documentation.', description: 'A writer.' });
});

const bar = (page) => page.getByRole('textbox', { name: 'Tell the page what to change' });
const panel = (page) => page.getByRole('region', { name: 'Output of the chat' });
const prompt = (page) => page.getByLabel('System prompt', { exact: true });
const DRY = 'You write dry documentation: one fact in each sentence.';
const times = (text, part) => text.split(part).length - 1;

async function open(page, name) {
  await page.goto(`/personas/${name}`);
  await prompt(page).waitFor();
}

async function send(page, text) {
  await bar(page).fill(text);
  await bar(page).press('Enter');
}

/** Stops the page's clock; from now on only the test moves it. */
async function stopClock(page) {
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1_000));
}

/** Waits for the end of the agent's run. With a stopped clock, frames come only as the test lets them. */
async function done(page) {
  await page.locator('[role=status]', { hasText: /^Done/ }).waitFor({ state: 'attached' });
}

test('panel timing by a controlled clock: it stays while the agent works, and hides 5 s after', async () => {
  const line = await suite.masque.line();
  try {
    await suite.page({ origin: line.origin }, async (page) => {
      await page.clock.install();
      await open(page, 'timed');
      await page.mouse.move(5, 5);
      line.hold();
      await send(page, 'Make it drier');
      await panel(page).getByText('Make it drier').waitFor();
      await stopClock(page);
      await page.clock.runFor(60_000);
      assert.equal(await panel(page).getAttribute('data-state'), 'visible');
      line.release();
      await panel(page).getByText('there is a test input about sums').waitFor();
      await done(page);
      assert.match(await panel(page).innerHTML(), /<strong>drier<\/strong>/);
      await page.clock.runFor(4_900);
      assert.equal(await panel(page).isVisible(), true);
      await page.clock.runFor(200);
      assert.equal(await panel(page).isVisible(), false);
      // Hiding leaves a chip.
      await page.getByText('2 changes ·').waitFor();
    });
  } finally {
    await line.close();
  }
});

test('pin, dismiss, show: a click pins, a click elsewhere and Esc hide, Show output brings it back', () =>
  suite.page({}, async (page) => {
    await page.clock.install();
    await open(page, 'pinned');
    await send(page, 'Make it drier');
    await done(page);
    await panel(page).getByText('Make it drier').click();
    await page.mouse.move(5, 5);
    await stopClock(page);
    await page.clock.runFor(60_000);
    assert.equal(await panel(page).getAttribute('data-state'), 'pinned');
    await page.mouse.click(700, 60);
    assert.equal(await panel(page).isVisible(), false);
    await page.getByRole('button', { name: 'Show output' }).click();
    await page.clock.runFor(60_000);
    assert.equal(await panel(page).getAttribute('data-state'), 'pinned');
    await page.keyboard.press('Escape');
    assert.equal(await panel(page).isVisible(), false);
    await page.getByRole('button', { name: 'Show output' }).click();
    await page.getByRole('button', { name: 'Hide the output' }).click();
    assert.equal(await panel(page).isVisible(), false);
  }));

test('the pointer or the focus inside keeps the panel', () =>
  suite.page({}, async (page) => {
    await page.clock.install();
    await open(page, 'touched');
    await send(page, 'Make it drier');
    await panel(page).getByText('update_system_prompt', { exact: true }).first().hover();
    await done(page);
    await stopClock(page);
    await page.clock.runFor(30_000);
    assert.equal(await panel(page).isVisible(), true);
    await panel(page).getByRole('button', { name: 'Clear' }).focus();
    await page.mouse.move(5, 5);
    await page.clock.runFor(30_000);
    assert.equal(await panel(page).isVisible(), true);
    await bar(page).focus();
    await page.clock.runFor(5_100);
    assert.equal(await panel(page).isVisible(), false);
  }));

test('an error never times out, and the chip of a hidden one says so', () =>
  suite.page({}, async (page) => {
    await page.clock.install();
    await open(page, 'failing');
    await send(page, 'Fail now');
    await panel(page).getByRole('alert').getByText('not in the mood').waitFor();
    await page.mouse.move(5, 5);
    await stopClock(page);
    await page.clock.runFor(600_000);
    assert.equal(await panel(page).isVisible(), true);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Failed · Show why' }).click();
    await panel(page).getByText('not in the mood').waitFor();
  }));

test('chat renames the persona and the page shows it', () =>
  suite.page({}, async (page) => {
    await open(page, 'renamed');
    assert.equal(await page.getByLabel('Display name', { exact: true }).inputValue(), 'Ada');
    await send(page, 'Rename it to Grace');
    await page.waitForFunction(() => document.querySelector('[data-field="display_name"] input').value === 'Grace');
    await panel(page).getByText('It is called Grace now.').waitFor();
    await page.getByText('r2', { exact: true }).first().waitFor();
    assert.equal((await suite.masque.get('persona', 'renamed')).display_name, 'Grace');
    const { items } = await suite.masque.api('GET', '/api/library/persona/renamed/history');
    assert.equal(items[0].message, 'Rename it to Grace');
  }));

test('clear: a turn is undone, a conversation is cleared', () =>
  suite.page({}, async (page) => {
    await open(page, 'undone');
    await send(page, 'Make it drier');
    await done(page);
    assert.equal(await prompt(page).inputValue(), DRY);
    await panel(page).getByRole('button', { name: 'Undo this turn' }).click();
    await page.getByText("The agent's last turn is undone.").waitFor();
    await page.waitForFunction(() => document.querySelector('[data-field="system_prompt"] textarea').value === 'You write documentation.');
    assert.equal(await panel(page).getByRole('button', { name: 'Undo this turn' }).count(), 0);
    const before = (await suite.masque.api('GET', '/api/storage/personas/undone')).agentChatSessionId;
    await panel(page).getByRole('button', { name: 'Clear' }).click();
    await panel(page).getByText('Nothing was said yet').waitFor();
    const after = (await suite.masque.api('GET', '/api/storage/personas/undone')).agentChatSessionId;
    assert.notEqual(after, before);
    // The old conversation stays in the list of sessions.
    assert.equal((await suite.masque.api('GET', `/api/sessions/${before}`)).id, before);
  }));

test('drop the connection of the chat and come back without a lost or doubled turn', async () => {
  const line = await suite.masque.line();
  try {
    await suite.page({ origin: line.origin, allowed: LOST }, async (page) => {
      await open(page, 'lost');
      await send(page, 'Count slowly');
      await panel(page).getByText('three').waitFor();
      line.cut();
      await page.locator('[role=status]', { hasText: 'The connection was lost' }).waitFor({ state: 'attached' });
      await done(page);
      const text = await panel(page).innerText();
      for (const word of ['Count slowly', ' five ', ' fifteen ', 'thirty']) assert.equal(times(text, word), 1, word);
    });
  } finally {
    await line.close();
  }
});

test('the conversation is there after a reload, and the panel waits to be asked for', async () => {
  await suite.masque.tell('kept', 'Earlier words');
  await suite.page({}, async (page) => {
    await open(page, 'kept');
    assert.equal(await panel(page).count(), 0);
    await page.getByRole('button', { name: 'Show output' }).click();
    await panel(page).getByText('You said: Earlier words').waitFor();
    await bar(page).fill('not sent yet');
    await page.reload();
    await page.waitForFunction(() => document.querySelector('.dock textarea')?.value === 'not sent yet');
  });
});

test('an agent edits beside a draft: the draft stays, the other fields come in', () =>
  suite.page({}, async (page) => {
    await open(page, 'beside');
    await page.getByLabel('Description', { exact: true }).fill('Mine, not saved yet.');
    await page.getByText('r1 · draft').waitFor();
    await send(page, 'Make it drier');
    await done(page);
    await page.waitForFunction((text) => document.querySelector('[data-field="system_prompt"] textarea').value === text, DRY);
    assert.equal(await page.getByLabel('Description', { exact: true }).inputValue(), 'Mine, not saved yet.');
    assert.equal((await suite.masque.get('persona', 'beside')).description, 'A writer.');
    await prompt(page).focus();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved beside').waitFor();
    const saved = await suite.masque.get('persona', 'beside');
    assert.deepEqual([saved.description, saved.system_prompt], ['Mine, not saved yet.', DRY]);
  }));

test('an agent edits the field of a draft: mine stays, and the page asks', () =>
  suite.page({}, async (page) => {
    await open(page, 'clashing');
    await prompt(page).fill('Mine, not saved yet.');
    await page.getByText('r1 · draft').waitFor();
    await suite.masque.tell('clashing', 'Make it drier');
    await page.getByText('Yours stays until you choose').waitFor();
    assert.match(await prompt(page).inputValue(), /^Mine/);
    await page.locator('.notices').getByRole('button', { name: 'Compare' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('changed here and in revision').waitFor();
    await dialog.getByRole('button', { name: 'Use mine' }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    assert.equal(await prompt(page).inputValue(), 'Mine, not saved yet.');
  }));

test('the panel is padding of the page, so that the last field can be seen', () =>
  suite.page({}, async (page) => {
    await open(page, 'behind');
    await send(page, 'Make it drier');
    await done(page);
    await panel(page).getByText('update_system_prompt', { exact: true }).first().click();
    await page.getByLabel('License', { exact: true }).scrollIntoViewIfNeeded();
    await page.getByLabel('License', { exact: true }).click();
    await page.getByRole('button', { name: 'Show output' }).click();
    await page.locator('.write').evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await page.waitForFunction(() => {
      const last = document.querySelector('[data-field="license"]').getBoundingClientRect();
      return last.bottom <= document.querySelector('.panel').getBoundingClientRect().top;
    });
  }));

test('what the agent changed is marked until it is kept or taken back, one by one; edits by hand survive', () =>
  suite.page({}, async (page) => {
    const name = 'reviewed';
    await open(page, name);
    await send(page, 'Make it drier');
    await done(page);
    const field = (called) => page.locator(`[data-field="${called}"]`);
    await field('system_prompt').getByText('the agent changed this').waitFor();
    await field('test_inputs').getByText(/the agent added what-is/).waitFor();
    // A mark outlives a reload, and another save.
    await page.reload();
    await field('system_prompt').getByText('the agent changed this').waitFor();
    await page.getByLabel('Description', { exact: true }).fill('By hand.');
    await page.keyboard.press('Control+s');
    await page.getByText(`Saved ${name}`).waitFor();
    await field('system_prompt').getByRole('button', { name: 'compare' }).click();
    await page.getByRole('dialog').locator('ins').first().waitFor();
    await page.keyboard.press('Escape');
    await field('system_prompt').getByRole('button', { name: 'Undo: the agent changed this' }).click();
    await page.waitForFunction(() => document.querySelector('[data-field="system_prompt"] textarea').value === 'You write documentation.');
    await field('test_inputs').getByRole('button', { name: /^Keep: the agent added/ }).click();
    await page.getByText('the agent changed this').waitFor({ state: 'detached' });
    await page.getByText(/the agent added/).waitFor({ state: 'detached' });
    const saved = await suite.masque.get('persona', name);
    assert.deepEqual([saved.system_prompt, saved.description, saved.test_inputs.length], ['You write documentation.', 'By hand.', 1]);
    await page.reload();
    await prompt(page).waitFor();
    assert.equal(await page.getByText(/the agent (changed|added)/).count(), 0);
  }));

test('describe one: the persona opens, and the agent writes it from the words', () =>
  // A name that is free is not found.
  suite.page({ allowed: REFUSED }, async (page) => {
    await page.goto('/');
    await page.getByRole('button', { name: 'New', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Persona from a description…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Describe a persona' });
    await dialog.getByLabel('What should it be like?').fill('Make it drier. It writes reference pages.');
    await dialog.getByLabel('Name').fill('described');
    await dialog.getByRole('button', { name: 'Create and tell the agent' }).click();
    await panel(page).getByText('there is a test input about sums').waitFor();
    await page.waitForFunction((text) => document.querySelector('[data-field="system_prompt"] textarea')?.value === text, DRY);
    assert.equal((await suite.masque.get('persona', 'described')).description, 'Make it drier.');
    // A reload does not say it again.
    await page.reload();
    await page.getByRole('button', { name: 'Show output' }).click();
    await panel(page).getByText('there is a test input about sums').waitFor();
    assert.equal(times(await panel(page).innerText(), 'It writes reference pages.'), 1);
  }));
