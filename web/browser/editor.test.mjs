// The page in a real browser: run with `npm run browser`.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { start } from './harness.mjs';

const TOML = `
[personas.house_reviewer]
extends = "code_reviewer"
description = "Our reviewer."
system_prompt = "You know our house rules, and {{ticket}} is named in the title."
system_prompt_mode = "append"
parts = ["short-tone", "house-rules"]

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

let masque;

before(async () => {
  masque = await start({ toml: TOML });
  await masque.request('PUT', '/api/library/persona/editor_one', { entity: { system_prompt: 'First.', description: 'An editor.', parts: ['plain-tone', 'evidence-soul', 'review-protocol'], traits: ['patient'] } });
  await masque.request('PUT', '/api/library/part/short-tone', { scope: 'shared', entity: { part_type: 'tone', content: 'Short, from the library.' } });
});
after(() => masque?.stop());

async function open(context, path) {
  const page = await context.newPage();
  await page.goto(path);
  return page;
}

const prompt = (page) => page.getByLabel('System prompt', { exact: true });
const clean = (context) => assert.deepEqual(context.faults, []);

test('a persona is created from a template and opens in its editor', async () => {
  const context = await masque.context();
  const page = await open(context, '/templates');
  await page.getByRole('listitem').filter({ hasText: 'Mentor' }).getByRole('button', { name: 'Use this one' }).click();
  await page.getByLabel('Name').fill('my mentor');
  await page.getByText('“ ” is none of them').waitFor();
  await page.getByLabel('Name').fill('my_mentor');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'my_mentor' }).waitFor();
  assert.match(await prompt(page).inputValue(), /helping/);
  clean(context);
  await context.close();
});

test('typing makes a draft that survives a reload; saving makes one revision with its reason', async () => {
  const context = await masque.context();
  const page = await open(context, '/personas/editor_one');
  await prompt(page).fill('Second.');
  await page.getByText('r1 · draft').waitFor();
  await page.waitForTimeout(400);
  await page.reload();
  await page.getByText('r1 · draft').waitFor();
  assert.equal(await prompt(page).inputValue(), 'Second.');
  await page.getByLabel('Reason, for the history').fill('second try');
  await page.keyboard.press('Control+s');
  await page.getByText('Saved editor_one as revision 2').waitFor();
  const { items } = await masque.request('GET', '/api/library/persona/editor_one/history');
  assert.equal(items.length, 2);
  assert.equal(items[0].message, 'second try');
  clean(context);
  await context.close();
});

test('two tabs: disjoint fields merge with a notice, and nothing is lost', async () => {
  const context = await masque.context();
  const first = await open(context, '/personas/editor_one');
  const second = await open(context, '/personas/editor_one');
  await prompt(first).fill('From the first tab.');
  await second.getByLabel('Description', { exact: true }).fill('From the second tab.');
  await first.keyboard.press('Control+s');
  await first.getByText('Saved editor_one').waitFor();
  await second.getByText('your draft has both').waitFor();
  assert.equal(await prompt(second).inputValue(), 'From the first tab.');
  await second.keyboard.press('Control+s');
  await second.getByText('Saved editor_one').waitFor();
  const saved = await masque.request('GET', '/api/library/persona/editor_one');
  assert.equal(saved.system_prompt, 'From the first tab.');
  assert.equal(saved.description, 'From the second tab.');
  clean(context);
  await context.close();
});

test('two tabs: the same field asks, shows both, and keeps mine until then', async () => {
  const context = await masque.context();
  const page = await open(context, '/personas/editor_one');
  await prompt(page).fill('Mine, which is long enough that both makes sense.\nTwo lines.');
  await masque.request('PATCH', '/api/library/persona/editor_one', { entity: { system_prompt: 'Theirs.' }, message: 'an agent' });
  const dialog = page.getByRole('dialog');
  await dialog.getByText('changed here and in revision').waitFor();
  assert.match(await page.locator('textarea').first().inputValue(), /^Mine/);
  await dialog.getByRole('button', { name: 'Use both' }).click();
  await dialog.getByText('All settled').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  assert.match(await prompt(page).inputValue(), /^Mine[\s\S]*Theirs\.$/);
  await page.keyboard.press('Control+s');
  await page.getByText('Saved editor_one').waitFor();
  clean(context);
  await context.close();
});

test('an untouched page shows what others save, at once', async () => {
  const context = await masque.context();
  const page = await open(context, '/personas/editor_one');
  await prompt(page).waitFor();
  await masque.request('PATCH', '/api/library/persona/editor_one', { entity: { system_prompt: 'Changed elsewhere.' } });
  await page.waitForFunction(() => document.querySelector('textarea')?.value === 'Changed elsewhere.');
  clean(context);
  await context.close();
});

test('parts are ordered by keyboard, announced, and undone in one step', async () => {
  const context = await masque.context();
  const page = await open(context, '/personas/editor_one');
  const handle = page.getByRole('button', { name: /^Move plain-tone/ });
  await handle.focus();
  await page.keyboard.press('Alt+ArrowDown');
  await page.getByText('plain-tone, 2 of 3').waitFor({ state: 'attached' });
  await page.getByText('· draft').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-focus-key')), 'part:plain-tone');
  await page.keyboard.press('Control+z');
  await page.getByText('· draft').waitFor({ state: 'detached' });
  clean(context);
  await context.close();
});

test('cancel shows what goes, and the draft comes back', async () => {
  const context = await masque.context();
  const page = await open(context, '/personas/editor_one');
  await prompt(page).fill('Not for long.');
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByRole('dialog').getByText('Take back 1 change').waitFor();
  await page.getByRole('button', { name: 'Take back' }).click();
  assert.notEqual(await prompt(page).inputValue(), 'Not for long.');
  await page.getByRole('button', { name: 'Bring them back' }).click();
  await page.waitForFunction(() => document.querySelector('textarea')?.value === 'Not for long.');
  clean(context);
  await context.close();
});

test('inherited values are faint and can be overridden here', async () => {
  const context = await masque.context();
  const page = await open(context, '/personas/house_reviewer');
  const field = page.locator('[data-field="summary"]');
  await field.getByText('from code_reviewer').waitFor();
  await field.getByRole('button', { name: 'override here' }).click();
  await field.getByRole('textbox').fill('Ours.');
  await field.getByRole('button', { name: 'back to inherited' }).click();
  await field.getByText('from code_reviewer').waitFor();
  clean(context);
  await context.close();
});

test('the preview names the layer of every line, and the budget steps by keyboard', async () => {
  const context = await masque.context();
  const page = await open(context, '/personas/house_reviewer');
  await page.locator('.block[data-layer="base"]').first().waitFor();
  await page.locator('.block[data-layer="own"]').first().waitFor();
  await page.getByRole('slider', { name: 'budget' }).focus();
  await page.keyboard.press('ArrowLeft');
  await page.getByText('left out:').first().waitFor();
  assert.match(page.url(), /budget=\d+/);
  assert.match(await page.getByRole('slider').getAttribute('aria-valuetext'), /left out, [\d,]+ of [\d,]+/);
  clean(context);
  await context.close();
});

test('history: compare, tag, move the tag, roll back', async () => {
  for (const text of ['One.', 'Two.', 'Three.']) await masque.request('PUT', '/api/library/persona/storied', { entity: { system_prompt: text } });
  const context = await masque.context();
  const page = await open(context, '/personas/storied/history');
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
  assert.equal((await masque.request('GET', '/api/library/persona/storied')).system_prompt, 'Two.');
  clean(context);
  await context.close();
});

test('a conflict is merged field by field', async () => {
  const context = await masque.context();
  const page = await open(context, '/conflicts');
  await page.getByRole('link', { name: 'short-tone' }).click();
  await page.getByRole('radio', { name: /shared/ }).check();
  await page.getByRole('button', { name: 'Keep as chosen' }).click();
  await page.getByText('Kept short-tone in project').waitFor();
  assert.equal((await masque.request('GET', '/api/library/part/short-tone')).content, 'Short, from the library.');
  clean(context);
  await context.close();
});

test('the library: search, back restores the search, delete and undo', async () => {
  const context = await masque.context();
  await masque.request('PUT', '/api/library/part/to-delete', { entity: { part_type: 'tone', content: 'x' } });
  const page = await open(context, '/library/part');
  await page.getByRole('link', { name: 'to-delete' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('delete');
  await page.waitForURL(/q=delete/);
  await page.getByRole('link', { name: 'to-delete' }).click();
  await page.getByRole('heading', { name: 'to-delete' }).waitFor();
  await page.goBack();
  assert.equal(await page.getByRole('searchbox').inputValue(), 'delete');
  await page.getByLabel('Select to-delete').check();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('No part matches.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('link', { name: 'to-delete' }).waitFor();
  clean(context);
  await context.close();
});

test('text from elsewhere never runs', async () => {
  const context = await masque.context();
  const evil = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>[x](javascript:window.hit=1)';
  await masque.request('PUT', '/api/library/persona/evil', { entity: { display_name: evil.slice(0, 190), description: evil, summary: evil, system_prompt: evil, tags: ['<b>x'], examples: [{ user: evil, persona: evil }], greetings: [evil] } });
  for (const path of ['/', '/personas/evil', '/personas/evil/history']) {
    const page = await open(context, path);
    await page.waitForTimeout(400);
    assert.equal(await page.evaluate(() => window.hit), undefined, path);
    await page.close();
  }
  clean(context);
  await context.close();
});

test('the palette goes anywhere by keyboard', async () => {
  const context = await masque.context();
  const page = await open(context, '/');
  await page.getByRole('searchbox').waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('house_rev');
  await page.getByRole('option', { name: /house_reviewer/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'house_reviewer' }).waitFor();
  clean(context);
  await context.close();
});

const PLACES = {
  library: '/', parts: '/library/part', empty: '/?q=nothing-like-this', templates: '/templates', persona: '/personas/house_reviewer',
  piece: '/library/part/house-rules', sheet: '/personas/house_reviewer?piece=part:house-rules', arc: '/personas/mentor?stage=coach',
  history: '/personas/editor_one/history', conflicts: '/conflicts', missing: '/nowhere',
};
for (const colorScheme of ['light', 'dark']) {
  for (const width of [1440, 390]) {
    test(`every place is accessible and has its picture: ${colorScheme}, ${width} px`, async () => {
      const context = await masque.context({ colorScheme, viewport: { width, height: width > 600 ? 900 : 844 } });
      for (const [name, path] of Object.entries(PLACES)) {
        const page = await open(context, path);
        // The event stream never ends, so the network is never idle: what loads says so itself.
        await page.locator('main h1, main h2').first().waitFor();
        await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
        await page.waitForTimeout(300);
        await masque.shot(page, `${name}-${width}-${colorScheme}`);
        const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']).analyze();
        assert.deepEqual(violations.map((one) => `${name}: ${one.id}: ${one.nodes.map((node) => node.target.join(' ')).slice(0, 3).join(' | ')}`), []);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        assert.equal(wide, false, `${name} scrolls sideways`);
        await page.close();
      }
      clean(context);
      await context.close();
    });
  }
}
