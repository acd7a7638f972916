// The library, history, conflicts, the palette, and the page by keyboard alone.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PHONE, useMasque } from './harness.mjs';
import { until } from './masque.mjs';

const TOML = `
[parts.short-tone]
part_type = "tone"
content = "One line for each change."

[parts.house-rules]
part_type = "protocol"
content = "Each change has a changelog line."

[parts.broken-one]
part_type = "tonne"
content = "x"
`;

const suite = useMasque({ toml: TOML }, async (masque) => {
  await masque.put('part', 'short-tone', { part_type: 'tone', content: 'Short, from the library.' }, { scope: 'shared' });
  await masque.put('part', 'ephemeral', { part_type: 'tone', content: 'x' });
  await masque.put('persona', 'keyed', { system_prompt: 'First.', description: 'By keyboard.' });
  for (const text of ['One.', 'Two.', 'Three.']) await masque.put('persona', 'storied', { system_prompt: text });
});

test('search as you type; back restores the search; delete and undo', () =>
  suite.page({}, async (page) => {
    await page.goto('/library/part');
    await page.getByRole('link', { name: 'plain-tone' }).first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('ephemeral');
    await page.waitForURL(/q=ephemeral/);
    await page.getByRole('link', { name: 'ephemeral' }).click();
    await page.getByRole('heading', { name: 'ephemeral' }).waitFor();
    await page.goBack();
    await page.getByRole('searchbox').waitFor();
    assert.equal(await page.getByRole('searchbox').inputValue(), 'ephemeral');
    await page.getByLabel('Select ephemeral').check();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No part matches.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('link', { name: 'ephemeral' }).waitFor();
  }));

test('back brings the place in the list and the focus back', () =>
  suite.page({ viewport: { width: 1000, height: 500 } }, async (page) => {
    await page.goto('/library/part');
    const list = page.locator('[data-scroll="library"]');
    await list.locator('article a').first().waitFor();
    await list.evaluate((box) => box.scrollTo(0, 400));
    const top = () => list.evaluate((box) => box.scrollTop);
    await page.waitForFunction(() => document.querySelector('[data-scroll="library"]').scrollTop === 400);
    const link = list.locator('article a').last();
    await link.evaluate((one) => one.focus({ preventScroll: true }));
    const key = await link.getAttribute('data-focus-key');
    const before = await top();
    await page.keyboard.press('Enter');
    await page.getByLabel('Description', { exact: true }).waitFor();
    await page.goBack();
    await page.waitForFunction((wanted) => document.activeElement?.getAttribute('data-focus-key') === wanted, key);
    await page.waitForFunction((wanted) => Math.abs(document.querySelector('[data-scroll="library"]').scrollTop - wanted) < 3, before);
  }));

test('several are picked with Shift, tagged at once, and exported', () =>
  suite.page({}, async (page) => {
    for (const name of ['many-1', 'many-2', 'many-3']) await suite.masque.put('part', name, { part_type: 'tone', content: name });
    await page.goto('/library/part?q=many');
    await page.getByLabel('Select many-1').click();
    await page.getByLabel('Select many-3').click({ modifiers: ['Shift'] });
    await page.getByRole('button', { name: /^Tag/ }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('together');
    await page.getByRole('dialog').getByRole('button', { name: 'Add tag' }).click();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: /^Export/ }).click();
    assert.match(readFileSync(await (await saved).path(), 'utf8'), /\[parts\.many-1\][\s\S]*\[parts\.many-3\]/);
    for (const name of ['many-1', 'many-2', 'many-3']) await until(async () => ((await suite.masque.get('part', name)).tags ?? []).includes('together'), `${name} has no tag`);
  }));

test('a broken entry is a card with its error', () =>
  suite.page({}, async (page) => {
    await page.goto('/library/part');
    await page.getByText('broken-one').first().waitFor();
    await page.getByText(/tonne/).first().waitFor();
  }));

test('roll back: compare, tag, move the tag, and bring a revision back', () =>
  suite.page({}, async (page) => {
    await page.goto('/personas/storied/history');
    await page.getByRole('button', { name: '2 saves, r2 to r3' }).click();
    const act = async (revision, action) => {
      await page.getByRole('button', { name: `Revision ${revision}`, exact: true }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    await act(2, 'Tag…');
    await page.getByRole('button', { name: 'Tag r2 as production' }).click();
    await page.getByText('Revision 2 is production now.').waitFor();
    await act(3, 'Tag…');
    await page.getByRole('dialog').locator('ins').first().waitFor();
    await page.getByRole('button', { name: 'Move production from r2 to r3' }).click();
    await page.getByText('Revision 3 is production now.').waitFor();
    await act(2, 'Roll back to this…');
    await page.getByRole('dialog').locator('ins').first().waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back to r2' }).click();
    await page.getByText('Back as it was at r2').waitFor();
    const now = await suite.masque.get('persona', 'storied');
    assert.deepEqual([now.system_prompt, now.revision], ['Two.', 4]);
  }));

test('merge a conflict field by field', () =>
  suite.page({}, async (page) => {
    await page.goto('/conflicts');
    await page.getByRole('link', { name: 'short-tone' }).click();
    await page.getByRole('radio', { name: /shared/ }).check();
    await page.getByRole('button', { name: 'Keep as chosen' }).click();
    await page.getByText('Kept short-tone in project').waitFor();
    assert.equal((await suite.masque.get('part', 'short-tone')).content, 'Short, from the library.');
  }));

test('keyboard alone: find a persona, edit it, save, look at its history, go back', () =>
  suite.page({}, async (page) => {
    await page.goto('/');
    await page.getByRole('searchbox').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('keyed');
    await page.getByRole('option', { name: /keyed/ }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'keyed' }).waitFor();
    const inPrompt = () => page.evaluate(() => document.activeElement?.closest('[data-field]')?.getAttribute('data-field') === 'system_prompt' && document.activeElement.tagName === 'TEXTAREA');
    await page.getByLabel('System prompt', { exact: true }).waitFor();
    for (let steps = 0; steps < 60 && !(await inPrompt()); steps += 1) await page.keyboard.press('Tab');
    assert.equal(await inPrompt(), true, 'Tab reaches the prompt');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('Typed by hand.');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved keyed as revision 2').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('History: keyed');
    await page.getByRole('option', { name: /History: keyed/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/history/);
    await page.getByRole('list', { name: /Revisions/ }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.waitForFunction(() => !document.activeElement?.matches('input, textarea'));
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goBack();
    await page.getByLabel('System prompt', { exact: true }).waitFor();
    // Every element that has the focus shows it.
    const unseen = [];
    for (let steps = 0; steps < 25; steps += 1) {
      await page.keyboard.press('Tab');
      const seen = await page.evaluate(() => {
        const box = document.activeElement;
        if (!box || box === document.body) return 'ok';
        const style = getComputedStyle(box);
        const around = box.closest(':focus-within') ? getComputedStyle(box.parentElement) : style;
        const shows = (one) => (one.outlineStyle !== 'none' && one.outlineWidth !== '0px') || one.boxShadow !== 'none';
        return shows(style) || shows(around) ? 'ok' : box.outerHTML.slice(0, 120);
      });
      if (seen !== 'ok') unseen.push(seen);
    }
    assert.deepEqual(unseen, []);
  }));

test('phone width: the rail is at the bottom, and every place is one tap away', () =>
  suite.page({ viewport: PHONE }, async (page) => {
    await page.goto('/');
    for (const [place, heading] of [['Sessions', 'Start a session'], ['Settings', 'Settings']]) {
      await page.getByRole('link', { name: place, exact: true }).click();
      await page.getByRole('heading', { name: heading }).first().waitFor();
    }
    const { width, height } = await page.getByRole('link', { name: 'Library', exact: true }).boundingBox();
    assert.ok(width >= 24 && height >= 40, `a thumb needs more than ${width} × ${height}`);
    await page.getByRole('link', { name: 'Library', exact: true }).click();
    await page.getByRole('searchbox').waitFor();
  }));
