// What a person decides about the editing agent's changes: proposals, questions about texts that would be halved, and
// locks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REFUSED, look, useMasque } from './harness.mjs';
import { until } from './masque.mjs';

const SHORT = 'You write documentation.';
const DRY = 'You write dry documentation: one fact in each sentence.';
const LONG = `You write documentation. Name the reader. ${'Say what a thing is before you say how it is used, and show one example that runs. '.repeat(4)}`.trim();
const CUT = 'You write documentation. Name the reader.';
const PERSONAS = { proposed: SHORT, dismissed: SHORT, stale: SHORT, asked: LONG, kept: LONG, rewritten: LONG, locked: SHORT, sealed: SHORT };
const suite = useMasque({}, async (masque) => {
  await masque.put('part', 'house-tone', { part_type: 'tone', content: 'Be brief.' });
  for (const [name, system_prompt] of Object.entries(PERSONAS)) {
    await masque.put('persona', name, { display_name: 'Ada', system_prompt, description: 'A writer.', parts: ['house-tone'] });
  }
});

const bar = (page) => page.getByRole('textbox', { name: 'Tell the page what to change' });
const panel = (page) => page.getByRole('region', { name: 'Output of the chat' });
const prompt = (page) => page.getByLabel('System prompt', { exact: true });
const promptIs = (page, text) => page.waitForFunction((wanted) => document.querySelector('[data-field="system_prompt"] textarea')?.value === wanted, text);
const done = (page) => page.locator('[role=status]', { hasText: /^Done/ }).waitFor({ state: 'attached' });
const open = (masque, name) => masque.api('GET', `/api/persona-agent/proposal?personaId=${name}`);

async function visit(page, name) {
  await page.goto(`/personas/${name}`);
  await prompt(page).waitFor();
}

async function send(page, text) {
  await bar(page).fill(text);
  await bar(page).press('Enter');
}

async function propose(page, name) {
  await visit(page, name);
  await page.getByLabel('Propose only').check();
  await send(page, 'Propose a drier one');
  await panel(page).getByRole('heading', { name: 'The agent proposes 1 change' }).waitFor();
  await done(page);
}

/** A yes counts once its first 300 ms are over, so it is repeated until the card is gone. */
async function decide(page, name) {
  const button = panel(page).getByRole('button', { name, exact: true });
  for (let tries = 0; tries < 50 && (await button.isVisible()); tries += 1) {
    await button.click({ timeout: 2_000 }).catch(() => {});
    await button.waitFor({ state: 'hidden', timeout: 1_000 }).catch(() => {});
  }
}

test('a proposal is a diff, and Apply does exactly that without asking the agent again', () =>
  suite.page({}, async (page) => {
    await propose(page, 'proposed');
    assert.equal((await suite.masque.get('persona', 'proposed')).revision, 1);
    const card = panel(page).getByRole('region', { name: 'The agent proposes 1 change' });
    await card.locator('ins', { hasText: 'dry' }).first().waitFor();
    await card.getByText('display name').waitFor();
    await look(page, 'persona-proposal');
    const asked = [];
    page.on('request', (request) => request.method() === 'POST' && asked.push([new URL(request.url()).pathname, request.postDataJSON()]));
    const { proposal } = await open(suite.masque, 'proposed');
    await decide(page, 'Apply');
    await page.getByText('Applied: 1 change.').waitFor();
    await promptIs(page, DRY);
    const saved = await suite.masque.get('persona', 'proposed');
    assert.deepEqual([saved.system_prompt, saved.display_name, saved.description], [DRY, 'Dry', 'A writer.']);
    const posts = asked.filter(([path]) => path.startsWith('/api/persona-agent'));
    assert.deepEqual(posts, [['/api/persona-agent/apply', { personaId: 'proposed', proposalId: proposal.id }]]);
    // It can be taken back like a turn of the agent.
    await panel(page).getByRole('button', { name: 'Undo this turn' }).click();
    await promptIs(page, SHORT);
  }));

test('a proposal outlives a reload, and Dismiss drops it', () =>
  suite.page({}, async (page) => {
    await propose(page, 'dismissed');
    await page.reload();
    await page.getByRole('button', { name: '1 proposal · Show' }).click();
    await panel(page).getByRole('button', { name: 'Dismiss' }).click();
    await panel(page).getByRole('heading', { name: /proposes/ }).waitFor({ state: 'detached' });
    assert.equal((await open(suite.masque, 'dismissed')).proposal, null);
    assert.equal((await suite.masque.get('persona', 'dismissed')).revision, 1);
  }));

test('a proposal that no longer fits says so, and cannot be applied', () =>
  suite.page({}, async (page) => {
    await propose(page, 'stale');
    const before = await suite.masque.get('persona', 'stale');
    await suite.masque.put('persona', 'stale', { display_name: 'Ada', system_prompt: 'Another one.', description: before.description });
    await panel(page).getByText('changed since', { exact: true }).waitFor();
    assert.equal(await panel(page).getByRole('button', { name: 'Apply', exact: true }).isDisabled(), true);
    await panel(page).getByRole('button', { name: 'Dismiss' }).click();
    await panel(page).getByRole('heading', { name: /proposes/ }).waitFor({ state: 'detached' });
    assert.equal((await suite.masque.get('persona', 'stale')).system_prompt, 'Another one.');
  }));

test('a change that would halve a text asks, waits for ever, and Take it makes it', () =>
  suite.page({}, async (page) => {
    await page.clock.install();
    await visit(page, 'asked');
    await send(page, 'Cut it short');
    const card = panel(page).getByRole('region', { name: 'The agent would cut system prompt to less than half' });
    await card.waitFor();
    await done(page);
    await card.getByText(`${LONG.length} → ${CUT.length} characters`).waitFor();
    assert.equal((await suite.masque.get('persona', 'asked')).system_prompt, LONG);
    await look(page, 'persona-question');
    await page.mouse.move(5, 5);
    await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1_000));
    await page.clock.runFor(600_000);
    assert.equal(await panel(page).isVisible(), true);
    await page.clock.resume();
    // A hidden panel leaves a chip, and the field says that something waits.
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: '1 question · Show' }).waitFor();
    await page.locator('[data-field="system_prompt"]').getByRole('button', { name: 'See the question' }).click();
    await decide(page, 'Take it');
    await promptIs(page, CUT);
    assert.equal((await suite.masque.get('persona', 'asked')).system_prompt, CUT);
    assert.deepEqual((await open(suite.masque, 'asked')).questions, []);
  }));

test('Keep mine leaves the text, also after a reload', () =>
  suite.page({}, async (page) => {
    await visit(page, 'kept');
    await send(page, 'Cut it short');
    await done(page);
    await page.reload();
    await page.getByRole('button', { name: '1 question · Show' }).click();
    await panel(page).getByRole('button', { name: 'Keep mine' }).click();
    await panel(page).getByRole('button', { name: 'Keep mine' }).waitFor({ state: 'detached' });
    await page.getByText('The agent asks to change this').waitFor({ state: 'detached' });
    const saved = await suite.masque.get('persona', 'kept');
    assert.deepEqual([saved.system_prompt, saved.revision], [LONG, 1]);
  }));

test('a question about a text that was rewritten meanwhile says that it no longer fits', () =>
  suite.page({}, async (page) => {
    await visit(page, 'rewritten');
    await send(page, 'Cut it short');
    await done(page);
    await prompt(page).fill('Mine is shorter still.');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved rewritten').waitFor();
    await page.getByRole('button', { name: /Show output|1 question/ }).first().click().catch(() => {});
    await panel(page).getByText('changed since', { exact: true }).waitFor();
    assert.equal(await panel(page).getByRole('button', { name: 'Take it' }).isDisabled(), true);
  }));

test('a locked field: by the keyboard, in the way of the agent alone, and unlocked again', () =>
  suite.page({}, async (page) => {
    await visit(page, 'locked');
    const lock = page.getByRole('button', { name: 'Lock System prompt against agents' });
    assert.equal(await lock.getAttribute('aria-pressed'), 'false');
    await lock.focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('[data-field="system_prompt"] .lock').getAttribute('aria-pressed') === 'true');
    const locks = () => suite.masque.api('GET', '/api/library/persona/locked/locks');
    await until(async () => (await locks()).fields.length === 2, 'the second field is not locked');
    const { fields, whole } = await locks();
    assert.deepEqual([fields, whole], [['system_prompt', 'system_prompt_mode'], false]);
    await send(page, 'Make it drier');
    await done(page);
    assert.equal(await prompt(page).inputValue(), SHORT);
    const call = panel(page).locator('details.call', { hasText: 'update_system_prompt' });
    await call.getByLabel('failed').waitFor();
    await call.getByText(/locked/).first().waitFor();
    await look(page, 'persona-locked');
    // Rows of other fields were written, and the person is not bound.
    assert.equal((await suite.masque.get('persona', 'locked')).test_inputs.length, 1);
    await page.keyboard.press('Escape');
    await prompt(page).fill('By hand.');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved locked').waitFor();
    // It is there after a reload, and goes with the next press.
    await page.reload();
    await page.locator('[data-field="system_prompt"]').getByText('locked').waitFor();
    await page.getByRole('button', { name: 'Lock System prompt against agents' }).click();
    await page.locator('[data-field="system_prompt"]').getByText('locked').waitFor({ state: 'detached' });
    await send(page, 'Make it drier');
    await promptIs(page, DRY);
  }));

test('a whole persona and a whole piece are locked, and every field shows it', () =>
  suite.page({}, async (page) => {
    await visit(page, 'sealed');
    await page.getByRole('button', { name: 'Lock the whole persona against agents' }).click();
    const field = page.getByRole('button', { name: 'Lock Description against agents' });
    await page.waitForFunction(() => document.querySelector('[data-field="description"] .lock').getAttribute('aria-pressed') === 'true');
    assert.equal(await field.getAttribute('aria-disabled'), 'true');
    await send(page, 'Rename it to Grace');
    await panel(page).locator('details.call', { hasText: 'update_persona_name' }).getByText(/locked/).first().waitFor();
    assert.equal((await suite.masque.get('persona', 'sealed')).display_name, 'Ada');
    await page.goto('/personas/sealed?piece=part:house-tone');
    await page.getByRole('dialog').getByRole('button', { name: 'Lock the whole part against agents' }).click();
    await page.getByRole('dialog').getByText('Locked', { exact: true }).waitFor();
    await page.goto('/library/part/house-tone');
    await page.getByRole('button', { name: 'Lock the whole part against agents', pressed: true }).waitFor();
    assert.equal((await suite.masque.api('GET', '/api/library/part/house-tone/locks')).whole, true);
  }));
