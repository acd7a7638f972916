// The editor: every field, drafts, tabs, merges, the preview.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHONE, REFUSED, useMasque } from './harness.mjs';

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
`;

const suite = useMasque({ toml: TOML }, async (masque) => {
  const parts = ['plain-tone', 'evidence-soul', 'review-protocol'];
  for (const name of ['drafted', 'tabs', 'clash', 'watched', 'ordered', 'cancelled', 'phoned', 'typed']) await masque.put('persona', name, { system_prompt: 'First.', description: 'An editor.', parts, traits: ['patient'] });
});

async function open(page, path) {
  await page.goto(path);
  await page.locator('main h1').waitFor();
}

const prompt = (page) => page.getByLabel('System prompt', { exact: true });
/** A field by its label. The lock beside it names the field, too. */
const field = (page, label) => page.getByLabel(label).and(page.locator(':not([aria-label^="Lock "])'));
const box = (page, name) => page.locator(`[data-field="${name}"]`);
const hasText = (page, text) => page.waitForFunction((wanted) => document.querySelector('[data-field="system_prompt"] textarea')?.value === wanted, text);

/** Chooses an entity in the open picker. */
async function pick(page, name) {
  await page.locator('.palette').getByRole('combobox').fill(name);
  await page.getByRole('option', { name: new RegExp(`^${name}\\b`) }).first().click();
}

async function choose(page, where, button, name) {
  await box(page, where).getByRole('button', { name: button }).and(page.locator(':not([aria-label^="Lock "])')).first().click();
  await pick(page, name);
}

/** Without the fields that the server adds. */
function definition({ kind, name, scope, revision, created_at, updated_at, updated_by, guid, parts_mode, system_prompt_mode, ...fields }) {
  return fields;
}

test('create from a template: it opens in its editor', () =>
  // A name that is free is not found.
  suite.page({ allowed: REFUSED }, async (page) => {
    await open(page, '/templates');
    await page.getByRole('listitem').filter({ hasText: 'Mentor' }).getByRole('button', { name: 'Use this one' }).click();
    const name = page.getByRole('dialog').getByLabel('Name');
    await name.fill('my mentor');
    await page.getByText('“ ” is none of them').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Create' }).isDisabled(), true);
    await name.fill('my_mentor');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'my_mentor' }).waitFor();
    await prompt(page).waitFor();
    assert.match(await prompt(page).inputValue(), /helping/);
    assert.equal((await suite.masque.get('persona', 'my_mentor')).scope, 'shared');
  }));

const LABELS = { tool_preset: 'Tool preset', bias_profile: 'Bias profile', context_preset: 'Context preset' };
test('edit every field of a persona: one save writes all of them', () =>
  // A model without a name is no definition, so its preview is refused.
  suite.page({ allowed: REFUSED }, async (page) => {
    await suite.masque.put('test_input', 'a-question', { content: 'Why?' });
    await suite.masque.put('persona', 'every_field', { system_prompt: 'Before.' });
    await open(page, '/personas/every_field');
    await prompt(page).fill('You are {{name}}.\n\n- one\n- two');
    await choose(page, 'parts', 'Add part', 'plain-tone');
    await choose(page, 'parts', 'Add part', 'review-protocol');
    await field(page, 'Priority of plain-tone').fill('90');
    await field(page, 'Priority of plain-tone').press('Tab');
    await choose(page, 'traits', 'Add trait', 'patient');
    const skill = (await suite.masque.api('GET', '/api/library/skill?limit=1')).items[0].name;
    const guardrail = (await suite.masque.api('GET', '/api/library/guardrail?limit=1')).items[0].name;
    const arc = (await suite.masque.api('GET', '/api/library/arc?limit=1')).items[0].name;
    await choose(page, 'skills', 'Add skill', skill);
    await choose(page, 'guardrails', 'Add guardrail', guardrail);
    await choose(page, 'arc', 'Arc', arc);
    await page.getByRole('list', { name: 'Stages' }).waitFor();
    await box(page, 'preferred_models').getByRole('button', { name: 'Add model' }).click();
    await field(page, 'Provider of model 1').fill('stage');
    await page.getByLabel('Model 1', { exact: true }).fill('understudy');
    await field(page, 'temperature').fill('0.4');
    await field(page, 'top-p').fill('0.9');
    await field(page, 'max tokens').fill('800');
    await field(page, 'max tokens').press('Tab');
    const named = {};
    for (const kind of Object.keys(LABELS)) {
      const [found] = (await suite.masque.api('GET', `/api/library/${kind}?limit=1`)).items;
      if (!found) await suite.masque.put(kind, `a-${kind.replace('_', '-')}`, { description: 'For the test.', ...(kind === 'context_preset' ? { entries: [{ glob: '*.md', view: 'full' }] } : kind === 'bias_profile' ? { multipliers: { read: 2 } } : { categories: { read: [{ name: 'read_file' }] } }) });
      named[kind] = found?.name ?? `a-${kind.replace('_', '-')}`;
      await choose(page, kind, LABELS[kind], named[kind]);
    }
    await field(page, 'Context files').selectOption('skeleton');
    await field(page, 'Tool rounds').fill('12');
    await field(page, 'Instruction in plan mode').fill('Plan in three steps.');
    await field(page, 'Model while planning').fill('stage/rehearsal');
    await field(page, 'Tools while planning').click();
    await pick(page, named.tool_preset);
    await box(page, 'greetings').getByRole('button', { name: 'Add greeting' }).click();
    await field(page, 'Greetings 1').fill('Good morning.');
    await box(page, 'examples').getByRole('button', { name: 'Add example' }).click();
    await field(page, 'Example 1: the user says').fill('Hello?');
    await field(page, 'Example 1: the persona answers').fill('Here.');
    await choose(page, 'test_inputs', 'Add test input', 'a-question');
    const about = { display_name: 'Everything', description: 'All of it.', summary: 'In short.', detail: 'At length.', author: 'Ada', license: 'MIT' };
    for (const [field, value] of Object.entries(about)) await box(page, field).locator('input, textarea').fill(value);
    await box(page, 'tags').locator('input').fill('first');
    await box(page, 'tags').locator('input').press('Enter');
    await box(page, 'tags').locator('input').fill('second,');
    await page.getByText('r1 · draft').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved every_field as revision 2').waitFor();
    const saved = definition(await suite.masque.get('persona', 'every_field'));
    assert.deepEqual(saved.parts.map((part) => [part.name, part.priority]), [['plain-tone', 90], ['review-protocol', 50]]);
    delete saved.parts;
    assert.deepEqual(saved, {
      ...about,
      system_prompt: 'You are {{name}}.\n\n- one\n- two',
      traits: ['patient'],
      skills: [skill],
      guardrails: [guardrail],
      arc,
      preferred_models: [{ provider: 'stage', model: 'understudy', temperature: 0.4, top_p: 0.9, max_output_tokens: 800 }],
      ...named,
      aggregation_strategy: 'skeleton',
      max_tool_rounds: 12,
      plan_persona: { instruction: 'Plan in three steps.', model: 'stage/rehearsal', tool_preset: named.tool_preset },
      greetings: ['Good morning.'],
      examples: [{ user: 'Hello?', persona: 'Here.' }],
      test_inputs: ['a-question'],
      tags: ['first', 'second'],
    });
    // What extends something, and what it takes out, are fields, too.
    await choose(page, 'extends', 'Extends', 'code_reviewer');
    await field(page, "How the prompt combines with the base's").selectOption('append');
    await field(page, "How the parts combine with the base's").selectOption('append');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved every_field as revision 3').waitFor();
    const { extends: base, system_prompt_mode, parts_mode } = await suite.masque.get('persona', 'every_field');
    assert.deepEqual([base, system_prompt_mode, parts_mode], ['code_reviewer', 'append', 'append']);
  }));

const PIECES = {
  part: [{ part_type: 'tone', content: 'Before.' }, async (page) => {
    await field(page, 'Type').selectOption('voice');
    await field(page, 'Content').fill('After.');
    await field(page, 'Summary').fill('Short.');
  }, { part_type: 'voice', content: 'After.', summary: 'Short.' }],
  trait: [{ trait_type: 'cognitive', instruction: 'Before.' }, async (page) => {
    await field(page, 'Type').selectOption('social');
    await field(page, 'Instruction').fill('After.');
  }, { trait_type: 'social', instruction: 'After.' }],
  skill: [{ description: 'A skill.', content: 'Before.' }, async (page) => {
    await field(page, 'Content').fill('After.');
  }, { content: 'After.' }],
  guardrail: [{ content: 'Before.' }, async (page) => {
    await field(page, 'Severity').selectOption('critical');
    await field(page, 'Content').fill('After.');
    await box(page, 'deny_tools').locator('input').fill('write_*');
    await box(page, 'deny_tools').locator('input').press('Enter');
  }, { severity: 'critical', content: 'After.', deny_tools: ['write_*'] }],
  arc: [{ stages: [{ name: 'start', order: 1 }] }, async (page) => {
    await field(page, 'Summary').fill('Short.');
    await page.getByRole('button', { name: 'Add stage' }).click();
    await field(page, 'Name of stage 2').fill('end');
    await field(page, 'What the persona is in stage 2').fill('Wise.');
    await field(page, 'When to move on from stage 1').fill('Once it knows.');
    await page.getByRole('button', { name: 'Choose part…' }).last().click();
    await pick(page, 'plain-tone');
  }, { summary: 'Short.', stages: [{ name: 'start', order: 1, condition: 'Once it knows.', parts: [] }, { name: 'end', order: 2, description: 'Wise.', parts: ['plain-tone'] }] }],
  tool_preset: [{ categories: { read: [{ name: 'read_file' }] } }, async (page) => {
    await page.getByRole('button', { name: 'Add tool' }).click();
    await page.getByLabel('Category', { exact: true }).last().fill('write');
    await page.getByLabel('Tool', { exact: true }).last().fill('write_file');
    await field(page, 'Permission').last().selectOption('ask');
    await page.getByLabel('Weight', { exact: true }).last().fill('4');
    await page.getByLabel('Weight', { exact: true }).last().press('Tab');
  }, { categories: { read: [{ name: 'read_file' }], write: [{ name: 'write_file', approval: 'ask', weight: 4 }] } }],
  bias_profile: [{ multipliers: { read: 2 } }, async (page) => {
    await page.getByRole('button', { name: 'Add category' }).click();
    await page.getByLabel('Category', { exact: true }).last().fill('write');
    await page.getByLabel('Multiplier', { exact: true }).last().fill('0.5');
    await page.getByLabel('Multiplier', { exact: true }).last().press('Tab');
  }, { multipliers: { read: 2, write: 0.5 } }],
  context_preset: [{ entries: [{ glob: '*.md', view: 'full' }] }, async (page) => {
    await page.getByRole('button', { name: 'Add entry' }).click();
    await page.getByLabel('Glob', { exact: true }).last().fill('src/**');
    await field(page, 'View').last().selectOption('outline');
    await field(page, 'Token budget').fill('4000');
  }, { entries: [{ glob: '*.md', view: 'full' }, { glob: 'src/**', view: 'outline' }], token_budget: 4000 }],
  test_input: [{ content: 'Before.' }, async (page) => {
    await field(page, 'Input').fill('After?');
    await page.getByRole('button', { name: 'Add expectation' }).click();
    await field(page, 'Expectations 1').fill('Answers.');
  }, { content: 'After?', expectations: ['Answers.'] }],
};
test('edit every field of every piece', () =>
  suite.page({}, async (page) => {
    for (const [kind, [before, edit, after]] of Object.entries(PIECES)) {
      const name = `edited-${kind.replace('_', '-')}`;
      await suite.masque.put(kind, name, before);
      await open(page, `/library/${kind}/${name}`);
      await field(page, 'Description').fill('Described.');
      await edit(page);
      await box(page, 'tags').locator('input').fill('tagged');
      await box(page, 'tags').locator('input').press('Enter');
      await page.keyboard.press('Control+s');
      await page.getByText(`Saved ${name} as revision 2`).waitFor();
      const saved = await suite.masque.get(kind, name);
      assert.deepEqual([saved.description, saved.tags], ['Described.', ['tagged']], kind);
      for (const [field, value] of Object.entries(after)) {
        assert.deepEqual(saved[field], value, `${kind}.${field}`);
      }
    }
  }));

test('validation stands beside its field: names, models, numbers', () =>
  suite.page({ allowed: REFUSED }, async (page) => {
    await open(page, '/personas/typed');
    await box(page, 'preferred_models').getByRole('button', { name: 'Add model' }).click();
    await page.getByText('A model needs a provider and a name.').waitFor();
    await field(page, 'Provider of model 1').fill('nobody');
    await page.getByLabel('Model 1', { exact: true }).fill('x');
    await page.getByText('No provider “nobody” is set up here.').waitFor();
    await field(page, 'Tool rounds').fill('0');
    await page.getByText('A whole number from 1 to 1000.').waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate…' }).click();
    await page.getByRole('dialog').getByRole('textbox').first().fill('drafted');
    await page.getByRole('dialog').getByRole('alert').getByText(/drafted/).waitFor();
    assert.equal(await page.getByRole('dialog').getByRole('button', { name: 'Duplicate' }).isDisabled(), true);
  }));

test('drafts survive reload; saving makes one revision with its reason', () =>
  suite.page({}, async (page) => {
    await open(page, '/personas/drafted');
    await prompt(page).fill('Second.');
    await page.getByText('r1 · draft').waitFor();
    // Leaving the page writes what the timer has not written yet.
    await page.reload();
    await page.getByText('r1 · draft').waitFor();
    assert.equal(await prompt(page).inputValue(), 'Second.');
    await field(page, 'Reason, for the history').fill('second try');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved drafted as revision 2').waitFor();
    const { items } = await suite.masque.api('GET', '/api/library/persona/drafted/history');
    assert.deepEqual(items.map(({ message }) => message)[0], 'second try');
    assert.equal(items.length, 2);
    await page.reload();
    await prompt(page).waitFor();
    assert.equal(await page.getByText('· draft').count(), 0);
  }));

test('two tabs edit one persona: disjoint fields merge with a notice, and nothing is lost', () =>
  suite.page({}, async (first, context) => {
    const second = await context.newPage();
    await open(first, '/personas/tabs');
    await open(second, '/personas/tabs');
    await prompt(first).fill('From the first tab.');
    await second.getByLabel('Description', { exact: true }).fill('From the second tab.');
    await first.keyboard.press('Control+s');
    await first.getByText('Saved tabs').waitFor();
    await second.getByText('your draft has both').waitFor();
    assert.equal(await prompt(second).inputValue(), 'From the first tab.');
    await second.keyboard.press('Control+s');
    await second.getByText('Saved tabs').waitFor();
    const saved = await suite.masque.get('persona', 'tabs');
    assert.deepEqual([saved.system_prompt, saved.description], ['From the first tab.', 'From the second tab.']);
  }));

test('two tabs edit one field: the page asks, and an open question outlives other saves and a reload', () =>
  suite.page({}, async (page) => {
    await open(page, '/personas/clash');
    await prompt(page).fill('Mine, which is long enough that both makes sense.\nTwo lines.');
    await suite.masque.api('PATCH', '/api/library/persona/clash', { entity: { system_prompt: 'Theirs.' }, message: 'an agent' });
    await page.getByText('Yours stays until you choose').waitFor();
    await suite.masque.api('PATCH', '/api/library/persona/clash', { entity: { summary: 'Another save.' } });
    await page.getByText('Revision 3 changed summary; your draft has both.').waitFor();
    await page.getByText('Yours stays until you choose').waitFor();
    assert.match(await prompt(page).inputValue(), /^Mine, which/);
    await prompt(page).fill('Mine, typed on, which is long enough that both makes sense.\nTwo lines.');
    await page.reload();
    await page.locator('.notices').getByRole('button', { name: 'Compare' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('changed here and in revision 3').waitFor();
    await dialog.getByRole('button', { name: 'Use both' }).click();
    await dialog.getByText('All settled').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    assert.match(await prompt(page).inputValue(), /^Mine, typed on[\s\S]*Theirs\.$/);
    await page.keyboard.press('Control+s');
    await page.getByText('Saved clash').waitFor();
    assert.equal((await suite.masque.get('persona', 'clash')).summary, 'Another save.');
  }));

test('an untouched page shows what others save, at once', () =>
  suite.page({}, async (page) => {
    await open(page, '/personas/watched');
    await prompt(page).waitFor();
    await suite.masque.api('PATCH', '/api/library/persona/watched', { entity: { system_prompt: 'Changed elsewhere.' } });
    await hasText(page, 'Changed elsewhere.');
  }));

test('parts are ordered by keyboard, announced, and undone in one step', () =>
  suite.page({}, async (page) => {
    await open(page, '/personas/ordered');
    await page.getByRole('button', { name: /^Move plain-tone/ }).focus();
    await page.keyboard.press('Alt+ArrowDown');
    await page.getByText('plain-tone, 2 of 3').waitFor({ state: 'attached' });
    await page.getByText('· draft').waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-focus-key')), 'part:plain-tone');
    await page.keyboard.press('Control+z');
    await page.getByText('· draft').waitFor({ state: 'detached' });
  }));

test('cancel shows what goes, and the draft comes back', () =>
  suite.page({}, async (page) => {
    await open(page, '/personas/cancelled');
    await prompt(page).fill('Not for long.');
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('dialog').getByText('Take back 1 change').waitFor();
    await page.getByRole('button', { name: 'Take back' }).click();
    await hasText(page, 'First.');
    await page.getByRole('button', { name: 'Bring them back' }).click();
    await hasText(page, 'Not for long.');
  }));

test('inherited values are faint and can be overridden here', () =>
  suite.page({}, async (page) => {
    await open(page, '/personas/house_reviewer');
    const field = box(page, 'summary');
    await field.getByText('from code_reviewer').waitFor();
    await field.getByRole('button', { name: 'override here' }).click();
    await field.getByRole('textbox').fill('Ours.');
    await field.getByRole('button', { name: 'back to inherited' }).click();
    await field.getByText('from code_reviewer').waitFor();
  }));

test('the preview names the layer of every line, lists problems, and its budget steps by keyboard', () =>
  suite.page({}, async (page) => {
    await open(page, '/personas/house_reviewer');
    await page.locator('.block[data-layer="base"]').first().waitFor();
    await page.locator('.block[data-layer="own"]').first().waitFor();
    await page.getByText('{{ticket}}').first().waitFor();
    await page.getByRole('slider', { name: 'budget' }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByText('left out:').first().waitFor();
    await page.waitForURL(/budget=\d+/);
    assert.match(await page.getByRole('slider').getAttribute('aria-valuetext'), /left out, [\d,]+ of [\d,]+/);
    await prompt(page).fill('A line that is new.');
    await page.locator('.preview').getByText('A line that is new.').first().waitFor();
    assert.match((await suite.masque.get('persona', 'house_reviewer')).system_prompt, /house rules/);
  }));

test('a change of the preview that is out of view is a chip, never a jump', () =>
  suite.page({ viewport: { width: 1300, height: 600 } }, async (page) => {
    await open(page, '/personas/house_reviewer');
    const text = page.locator('[data-scroll="preview"]');
    await text.locator('.block').last().waitFor({ state: 'attached' });
    await text.evaluate((box) => box.scrollTo(0, box.scrollHeight));
    const top = () => text.evaluate((box) => box.scrollTop);
    const before = await top();
    assert.ok(before > 0);
    await prompt(page).fill('You know our house rules, and nothing else is new here.');
    await page.getByRole('button', { name: '1 change above' }).waitFor();
    assert.ok(Math.abs((await top()) - before) < 60, 'the text stays where it is read');
    await page.getByRole('button', { name: '1 change above' }).click();
    await text.getByText('nothing else is new here').waitFor();
    await page.getByRole('button', { name: '1 change above' }).waitFor({ state: 'detached' });
  }));

test('a piece is edited in place, and says who else uses it', () =>
  suite.page({}, async (page) => {
    await suite.masque.put('persona', 'other_user', { system_prompt: 'x', parts: ['evidence-soul'] });
    await open(page, '/personas/ordered?piece=part:evidence-soul');
    const sheet = page.getByRole('dialog');
    await sheet.getByText(/other_user/).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL((url) => !url.search.includes('piece'));
  }));

test('phone width: form and preview by turns, and a save', () =>
  suite.page({ viewport: PHONE }, async (page) => {
    await open(page, '/personas/phoned');
    await prompt(page).fill('Typed with a thumb.');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.locator('.preview').getByText('Typed with a thumb.').first().waitFor();
    await page.getByRole('button', { name: 'Form' }).click();
    await page.getByRole('button', { name: /^Save/ }).click();
    await page.getByText('Saved phoned as revision 2').waitFor();
  }));
