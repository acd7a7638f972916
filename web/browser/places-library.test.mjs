// Every place of the library and the editor, looked at.
import { REFUSED, useMasque } from './harness.mjs';
import { TOML, fill, image, shown } from './places.mjs';

/** As many parts as a persona may have. */
const PARTS = 200;
const suite = useMasque({ toml: TOML }, async (masque) => {
  await fill(masque);
  const names = Array.from({ length: PARTS }, (_, n) => `rule-${n}`);
  const parts = names.map((name, n) => `[parts.${name}]\npart_type = "protocol"\ncontent = "Rule ${n}: say what you checked, and what you did not."\n`);
  await masque.api('POST', '/api/import', { scope: 'shared', toml: `${parts.join('\n')}\n[personas.large]\ndescription = "Two hundred parts."\nsystem_prompt = "You follow many rules."\nparts = ${JSON.stringify(names)}\n` });
  await masque.put('persona', 'scribe', { display_name: 'Scribe', description: 'Writes documentation.', system_prompt: 'You write documentation.', traits: ['patient'] });
  await masque.tell('scribe', 'Make it drier');
  await masque.put('persona', 'doc_smith', { display_name: 'Doc smith', description: 'Writes documentation.', system_prompt: 'You write documentation.', parts: ['plain-tone', 'evidence-soul'], traits: ['patient'] });
});
/** Cards fill in their parts and tokens. */
const cards = (page) => page.locator('article', { hasText: 'tokens' }).nth(3).waitFor();
const preview = (page) => page.locator('.block').first().waitFor({ state: 'attached' });

shown(suite, 'library', '/', { ready: cards });
shown(suite, 'library-table', '/library/part', { ready: (page) => page.getByText('broken-one').first().waitFor() });
shown(suite, 'library-nothing-found', '/?q=nothing-like-this');
shown(suite, 'templates', '/templates');
shown(suite, 'persona', '/personas/house_reviewer', { ready: preview });
shown(suite, 'persona-large', '/personas/large', { ready: preview });
shown(suite, 'persona-arc', '/personas/mentor?stage=coach', { ready: preview });
shown(suite, 'persona-missing', '/personas/house_reviwer', { ready: (page) => page.getByRole('alert').first().waitFor(), allowed: REFUSED });
shown(suite, 'persona-chat', '/personas/scribe', {
  ready: async (page) => {
    await page.getByRole('button', { name: 'Show output' }).click();
    await page.getByText('about sums').last().waitFor();
  },
});
shown(suite, 'piece', '/library/part/house-rules');
shown(suite, 'piece-sheet', '/personas/house_reviewer?piece=part:house-rules', { ready: (page) => page.getByRole('dialog').waitFor() });
shown(suite, 'history', '/personas/stargazer/history', { ready: (page) => page.locator('.compare ins').first().waitFor({ state: 'attached' }) });
shown(suite, 'conflicts', '/conflicts');
shown(suite, 'conflict', '/conflicts/part/short-tone');
shown(suite, 'palette', '/', {
  ready: async (page) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('option').first().waitFor();
  },
});
shown(suite, 'keys', '/', {
  ready: async (page) => {
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
  },
});

image(suite, 'editor', '/personas/house_reviewer', (page) => page.locator('.block[data-layer="own"]').first().waitFor());
image(suite, 'chat', '/personas/doc_smith', async (page) => {
  const bar = page.getByRole('textbox', { name: 'Tell the page what to change' });
  await bar.fill('Make it drier');
  await bar.press('Enter');
  await page.getByText('about sums').last().waitFor();
  await page.getByText('the agent changed this').waitFor();
  await page.getByRole('region', { name: 'Output of the chat' }).getByText('Make it drier').click();
});
