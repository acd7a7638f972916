// The grid of tests: real runs of a scripted model.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useMasque } from './harness.mjs';

const INPUTS = ['bright-1', 'bright-2', 'bright-3'];
const suite = useMasque({}, async (masque) => {
  const expectations = [{ name: 'Names the sun', contains: ['sun'], must: true }, { name: 'At most 80 words', words: { max: 80 } }];
  for (const name of INPUTS) await masque.put('test_input', name, { content: `How bright is it? (${name})`, expectations });
  for (const name of ['slow-1', 'slow-2', 'slow-3', 'slow-4', 'slow-5', 'slow-6']) await masque.put('test_input', name, { content: `Take your time, ${name}.`, expectations: [{ words: { max: 80 } }] });
  await masque.put('persona', 'sky', { system_prompt: 'You speak of the moon.', test_inputs: INPUTS });
  await masque.api('PUT', '/api/library/persona/sky/tags/production', { revision: 1 });
  await masque.put('persona', 'sky', { system_prompt: 'You speak of the sun.', test_inputs: INPUTS });
  await masque.put('persona', 'slow', { system_prompt: 'You take your time.', test_inputs: ['bright-1', 'slow-1', 'slow-2', 'slow-3', 'slow-4', 'slow-5', 'slow-6'] });
  await masque.put('persona', 'bare', { system_prompt: 'You have no tests.' });
});

const at = (page, name) => page.getByRole('gridcell', { name });

test('run the grid: cells stream in, and a reload, a narrow window and a filter keep them', () =>
  suite.page({}, async (page) => {
    await page.goto('/personas/sky/tests');
    await page.getByRole('button', { name: 'Run all' }).click();
    await page.getByText('3 of 3 pass').first().waitFor();
    await page.waitForURL(/run=/);
    for (const input of INPUTS) await at(page, new RegExp(`${input}.*: pass`)).waitFor();
    await page.setViewportSize({ width: 900, height: 700 });
    await at(page, /bright-1.*: pass/).waitFor();
    await page.reload();
    await at(page, /bright-3.*: pass/).waitFor();
    await page.getByRole('button', { name: 'Failing' }).click();
    await page.waitForURL(/show=failing/);
    await page.getByText('No row is failing.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    assert.equal(await page.getByRole('rowheader').count(), 3);
  }));

test('run the grid and stop it: what was answered stays, the rest is unfinished', () =>
  suite.page({}, async (page) => {
    await page.goto('/personas/slow/tests');
    await page.getByRole('button', { name: 'Run all' }).click();
    await at(page, /bright-1.*: fail/).waitFor();
    await at(page, /slow-\d.*: running/).first().waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await at(page, /slow-6.*: unfinished/).waitFor();
    await page.getByRole('button', { name: 'Run all' }).waitFor();
    await at(page, /bright-1.*: fail/).waitFor();
  }));

test('compare with a tag: two versions, with a verdict', () =>
  suite.page({}, async (page) => {
    await page.goto('/personas/sky/tests');
    await page.getByRole('button', { name: 'Column' }).click();
    await page.getByLabel('Two versions, with a verdict').check();
    assert.equal(await page.getByLabel('Compare with').inputValue(), 'production');
    await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click();
    await at(page, /bright-1, production.*: fail/).waitFor();
    await at(page, /bright-1, now.*: pass/).waitFor();
    await page.locator('.note strong').first().waitFor();
    // The keyboard moves, opens and picks two to compare.
    await at(page, /bright-1, production/).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: /bright-2/ });
    await dialog.getByText('Names the sun').waitFor();
    await dialog.getByText('The moon is pale.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await at(page, /bright-1, production/).focus();
    await page.keyboard.press(' ');
    const other = (await page.getByRole('columnheader').allInnerTexts()).findIndex((text) => /^now/.test(text)) > 1 ? 'ArrowRight' : 'ArrowLeft';
    await page.keyboard.press(other);
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('dialog', { name: 'Compare two cells' }).getByRole('cell', { name: 'broken' }).first().waitFor();
    assert.match(page.url(), /compare=1/);
    await page.goBack();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }));

test('a row runs again, and a changed persona makes cells stale', () =>
  suite.page({}, async (page) => {
    await suite.masque.test({ persona: 'sky' });
    await page.goto('/personas/sky/tests');
    await at(page, /bright-2, now.*: pass/).waitFor();
    const asked = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/api/tests'));
    await page.getByRole('button', { name: 'Run bright-2' }).click();
    const { persona, inputs } = (await asked).postDataJSON();
    assert.deepEqual([persona, inputs], ['sky', ['bright-2']]);
    await at(page, /bright-2, now.*: pass/).waitFor();
    await suite.masque.api('PATCH', '/api/library/persona/sky', { entity: { description: 'Changed since.', system_prompt: 'You speak of the sun, briefly.' } });
    await page.reload();
    await page.getByText('stale').first().waitFor();
  }));

test('a persona without tests says how to get some', () =>
  suite.page({}, async (page) => {
    await page.goto('/personas/bare/tests');
    await page.getByRole('heading', { name: 'No test inputs yet' }).waitFor();
  }));
