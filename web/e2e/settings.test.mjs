import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everywhere, look, origin, useBrowser, withPage } from './browser.mjs';

useBrowser();

test('settings show what answers, the files, and the version', () =>
  everywhere({}, async (page) => {
    await page.goto(`${origin}/settings`);
    await page.getByText('healthy').waitFor();
    await page.getByText('stage', { exact: true }).waitFor();
    await page.getByText('personas.toml').first().waitFor();
    await look(page, 'settings');
  }));

test('the theme is chosen and kept', () =>
  withPage({}, async (page) => {
    await page.goto(`${origin}/settings`);
    await page.getByLabel('Dark').check();
    await page.reload();
    await page.getByText('healthy').waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  }));

test('without a provider it says that answers are scripted, and how to change that', () =>
  withPage({}, async (page) => {
    await page.route('**/api/models', (route) => route.fulfill({ json: { items: [] } }));
    await page.goto(`${origin}/settings`);
    await page.getByText('No model is set up').waitFor();
    await look(page, 'settings-rehearsal');
  }));

test('a provider that does not answer says why', () =>
  withPage({}, async (page) => {
    const item = { name: 'mine', kind: 'openai-chat', base_url: 'http://localhost:1/v1', from: 'config', key: { missing: 'MINE_API_KEY' }, models: [], problem: 'MINE_API_KEY is not set' };
    await page.route('**/api/models', (route) => route.fulfill({ json: { items: [item] } }));
    await page.goto(`${origin}/settings`);
    await page.getByText('MINE_API_KEY is not set').waitFor();
    await page.getByText('does not answer').waitFor();
  }));
