// What the tests of all places share: a library worth looking at, and one test for each place. A place is opened wide
// and on a phone, and looked at in both themes: pictures in target/screenshots, and no finding of axe.
// MASQUE_UPDATE_DOCS=1 also writes the pictures of the README to docs/images.
import assert from 'node:assert/strict';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { look, settled } from './harness.mjs';
import { ROOT } from './masque.mjs';

const IMAGES = join(ROOT, 'docs/images');
const LARGEST_IMAGE = 250 * 1024;
export const TOML = `
[personas.house_reviewer]
extends = "code_reviewer"
description = "Reviews our changes, with the rules of the house."
system_prompt = "You know our house rules, and {{ticket}} is named in the title."
system_prompt_mode = "append"
parts = ["short-tone", "house-rules"]
tags = ["team", "review"]

[parts.short-tone]
part_type = "tone"
content = "One line for each finding. No praise, no preamble."

[parts.house-rules]
part_type = "protocol"
content = """
1. Read the ticket before the diff.
2. Each change has a changelog line.
3. A migration can be rolled back, or the review says why not."""

[parts.broken-one]
part_type = "tonne"
content = "x"
`;

export const INPUTS = ['at-noon', 'at-dusk', 'at-night', 'in-fog', 'in-an-eclipse', 'on-the-moon'];

/** The personas that all pictures show. */
export async function fill(masque) {
  const expectations = [{ name: 'Names the sun', contains: ['sun'], must: true }, { name: 'At most 80 words', words: { max: 80 } }];
  for (const name of INPUTS) await masque.put('test_input', name, { description: 'Asks how bright the sky is.', content: `How bright is it? (${name})`, expectations });
  await masque.put('part', 'short-tone', { part_type: 'tone', content: 'Short, from the library.' }, { scope: 'shared' });
  const prompts = ['You speak of the moon.', 'You speak of the moon, and of tides.', 'You speak of the sun. Answer in one sentence, and name what you do not know.'];
  const messages = ['first draft', 'tides, as asked in the review', 'the sun is what people ask about'];
  for (const [index, system_prompt] of prompts.entries()) await masque.put('persona', 'stargazer', { display_name: 'Stargazer', description: 'Explains the sky to people without a telescope.', system_prompt, tags: ['sky', 'team'], parts: ['plain-tone', 'evidence-soul'], traits: ['patient'], test_inputs: INPUTS }, { message: messages[index] });
  await masque.api('PUT', '/api/library/persona/stargazer/tags/production', { revision: 1 });
}

/** A test of one place. `address` may be a function of what only the server knows; `ready` waits for what `settled`
 * cannot know. */
export function shown(suite, name, address, { ready = async () => {}, allowed } = {}) {
  test(`${name}: wide, on a phone, in both themes, without barriers`, () =>
    suite.bothWidths({ allowed }, async (page) => {
      await page.goto(typeof address === 'function' ? address() : address);
      await settled(page);
      await ready(page);
      await look(page, name);
    }));
}

/** A picture of the README, written on request. */
export function image(suite, name, address, ready) {
  if (!process.env.MASQUE_UPDATE_DOCS) return;
  test(`the picture ${name} of the README`, () =>
    suite.page({ viewport: { width: 1280, height: 800 } }, async (page) => {
      await page.goto(typeof address === 'function' ? address() : address);
      await settled(page);
      await ready(page);
      await page.mouse.move(1, 1);
      mkdirSync(IMAGES, { recursive: true });
      const path = join(IMAGES, `${name}.png`);
      await page.screenshot({ path });
      assert.ok(statSync(path).size <= LARGEST_IMAGE, `${name}.png has ${statSync(path).size} bytes`);
    }));
}
