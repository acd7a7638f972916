// The files of the project that a run would see, in the editor of a persona and on the page of a context preset.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { look, useMasque } from './harness.mjs';

const LIB = '/// Greets somebody.\npub fn greet(name: &str) -> String {\n    let greeting = format!("Hello, {name}!");\n    greeting.trim().to_owned()\n}\n';
const FILES = { 'lib.rs': LIB, 'guide.md': '# The guide\n\nGreet everybody by name.\n', 'logo.bin': 'a\0b', '.env': 'KEY=secret\n' };
const suite = useMasque({ files: FILES }, async (masque) => {
  await masque.put('context_preset', 'greeter-files', { description: 'What a greeter has to know.', entries: [{ glob: '*.rs', view: 'skeleton' }, { glob: '*.md', view: 'full' }, { glob: '*.zig', view: 'full' }, { path: 'logo.bin', view: 'full' }], token_budget: 4000 });
  await masque.put('persona', 'greeter', { description: 'Greets people.', system_prompt: 'You greet people.', context_preset: 'greeter-files' });
  await masque.put('persona', 'plain', { description: 'Sees no files.', system_prompt: 'You see no files.' });
});

const section = (page) => page.getByRole('region', { name: 'Context', exact: true });
const file = (page, name) => page.getByRole('row').filter({ hasText: name });
const go = async (page) => {
  await page.getByLabel('System prompt', { exact: true }).waitFor();
  await page.locator('#s-context').scrollIntoViewIfNeeded();
};

test('a persona shows which files a run would see, and another strategy or budget is tried without saving', () =>
  suite.bothWidths({}, async (page) => {
    await page.goto('/personas/greeter');
    await go(page);
    await file(page, 'lib.rs').getByText('skeleton').waitFor();
    await file(page, 'guide.md').getByText('full').waitFor();
    await section(page).getByText(/^2 files, \d+ of 4,000 tokens$/).waitFor();
    await section(page).getByText('*.zig, selects no file').waitFor();
    await section(page).getByText('left out: is binary').waitFor();
    await look(page, 'persona-context');
    await section(page).getByText('The text, as the model gets it').click();
    const text = section(page).getByRole('region', { name: 'The text, as the model gets it' });
    assert.match(await text.innerText(), /pub fn greet/);
    assert.doesNotMatch(await text.innerText(), /trim\(\)/);
    await section(page).getByLabel('Try a budget').fill('60');
    await section(page).getByText(/ of 60 tokens$/).waitFor();
    await page.waitForURL(/tokens=60/);
    await page.reload();
    await go(page);
    await section(page).getByText(/ of 60 tokens$/).waitFor();
    await section(page).getByRole('button', { name: 'Back to what is saved' }).click();
    await section(page).getByText(/ of 4,000 tokens$/).waitFor();
    assert.equal((await suite.masque.get('persona', 'greeter')).revision, 1);
  }));

test('a persona without a preset and a strategy shows no files until one is tried', () =>
  suite.page({}, async (page) => {
    await page.goto('/personas/plain');
    await go(page);
    await section(page).getByText('a run shows no files of the project').waitFor();
    await section(page).getByLabel('Try a strategy').selectOption('auto');
    await file(page, 'guide.md').waitFor();
    await section(page).getByText('left out: is binary').waitFor();
    assert.doesNotMatch(await section(page).innerText(), /\.env|KEY=/);
  }));

test('a draft of the persona decides before it is saved', () =>
  suite.page({}, async (page) => {
    await page.goto('/personas/plain');
    await go(page);
    await section(page).getByLabel('Context files', { exact: true }).selectOption('full');
    await file(page, 'lib.rs').getByText('full').waitFor();
  }));

test('the page of a context preset shows its files, and says that a change has to be saved first', () =>
  suite.bothWidths({}, async (page) => {
    await page.goto('/library/context_preset/greeter-files');
    const files = page.getByRole('region', { name: 'Files that a run would see' });
    await files.scrollIntoViewIfNeeded();
    await file(page, 'guide.md').waitFor();
    if (page.viewportSize().width > 600) await file(page, 'guide.md').getByText('entry 2: *.md').waitFor();
    await look(page, 'context-preset');
    await page.getByLabel('Token budget', { exact: true }).fill('5000');
    await files.getByText('These are the files of the saved revision.').waitFor();
  }));
