// Tracks: written, planned, worked by the scripted model in a real git repository, decided by a person, and looked at.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LOST, PHONE, REFUSED, look, settled, useMasque } from './harness.mjs';
import { board, FILES, git, repository, SCRIPT, started, stateOf, toml } from './conduct.mjs';
import { Masque } from './masque.mjs';
import { shown } from './places.mjs';

const at = {};
const suite = useMasque({ script: SCRIPT, files: FILES }, async (masque) => {
  repository(masque);
  const all = toml('A friendlier greeter', [['names'], ['careless', 'names'], ['greeting', 'names'], ['listing', 'names'], ['essay', 'careless'], ['readme', 'greeting', 'essay'], ['impossible']]);
  at.board = await started(masque, all);
  await board(masque, at.board, (now) => now.needs.length === 2 && now.tickets.some(({ approvals }) => approvals?.length > 0) && stateOf(now, 'essay') === 'working', 'the track does not wait');
  at.ended = await started(masque, toml('Names and a README', [['names'], ['readme', 'names']]));
  await board(masque, at.ended, ({ phase }) => phase === 'finished', 'the track does not end');
  ({ id: at.fresh } = await masque.api('POST', '/api/tracks', { toml: toml('Not begun', [['names'], ['readme', 'names']]) }));
});

const track = (id, more = '') => () => `/tracks/${at[id]}${more}`;
const said = (text) => (page) => page.getByText(text).locator('visible=true').first().waitFor();

shown(suite, 'tracks', '/tracks', { ready: said('3 things need you') });
shown(suite, 'tracks-new', '/tracks/new', { ready: said('The plan shows here') });
shown(suite, 'track', track('board'), { ready: (page) => page.getByRole('button', { name: /^impossible, Add the birthdays/ }).waitFor() });
shown(suite, 'track-new', track('fresh'), { ready: said('Not started') });
shown(suite, 'track-ended', track('ended'), { ready: (page) => page.getByRole('button', { name: /^readme, Say how/ }).waitFor() });
shown(suite, 'track-ticket', track('board', '?ticket=careless'), { ready: said('sends it back') });
shown(suite, 'track-needs', track('board', '?ticket=greeting'), { ready: said('Which greeting is meant') });
shown(suite, 'track-turns', track('board', '?ticket=essay&tab=turns'), { ready: said('I read the whole project') });
shown(suite, 'track-report', track('ended', '?show=report'), { ready: said('2 completed') });
shown(suite, 'track-spent', track('board', '?show=spent'), { ready: said('What the track spent') });
shown(suite, 'track-missing', '/tracks/00000000-0000-0000-0000-000000000000', { ready: (page) => page.getByRole('alert').first().waitFor(), allowed: REFUSED });

const toml1 = (page) => page.getByLabel('track.toml');
const detail = (page) => page.getByRole('complementary');
const row = (page, id) => page.locator(`[data-focus-key="ticket-${id}"]`);
const node = (page, id) => page.locator(`[data-node="${id}"]`);
const headline = (page, text) => page.locator('[role=status]', { hasText: text }).waitFor({ state: 'attached' });
const start = (name, tickets, head) => started(suite.masque, toml(name, tickets, head));

/** A yes counts once its first 300 ms are over, so it is repeated until the button is gone. */
async function yes(button) {
  await button.waitFor();
  for (let tries = 0; tries < 50 && (await button.isVisible()); tries += 1) {
    await button.click({ timeout: 2_000 }).catch(() => {});
    await button.waitFor({ state: 'hidden', timeout: 1_000 }).catch(() => {});
  }
}

test('a track is written with its mistakes in place, planned, worked to the end, reported and merged', () =>
  suite.page({ allowed: REFUSED }, async (page) => {
    await page.goto('/tracks');
    await page.getByRole('link', { name: 'New track' }).click();
    await page.waitForURL('**/tracks/new');
    const text = toml('From the page', [['names'], ['readme', 'names']]);
    await toml1(page).fill(text.replace('title = "Say how', 'titel = "Say how').replace('depends_on = ["names"]', 'depends_on = ["nams"]'));
    await page.getByRole('alert').getByText('did you mean "title"?').waitFor();
    assert.equal(await toml1(page).getAttribute('aria-invalid'), 'true');
    assert.equal(await page.getByRole('button', { name: 'Create and start' }).isDisabled(), true);
    await page.reload();
    await page.getByRole('alert').getByText('did you mean "title"?').waitFor();
    await look(page, 'track-mistakes', { axe: false });
    await toml1(page).fill(text);
    await page.getByText('2 tickets, up to 3 at once, each in a worktree').waitFor();
    await page.getByText('reviewed by qa_reviewer').first().waitFor();
    await node(page, 'readme').waitFor();
    await look(page, 'track-plan');
    await page.getByRole('button', { name: 'Create and start' }).click();
    await page.waitForURL(/\/tracks\/[0-9a-f-]{36}$/);
    const id = page.url().split('/').at(-1);
    await headline(page, 'From the page: finished');
    await page.getByRole('link', { name: '2 done' }).waitFor();

    await row(page, 'names').click();
    await detail(page).getByText('names.txt has a line for Ada').first().waitFor();
    await detail(page).getByText('Small, and it does what the ticket says.').waitFor();
    await detail(page).getByText('Attempt 1').click();
    await detail(page).getByText('One name in each line.').waitFor();
    await detail(page).getByRole('link', { name: 'Turns', exact: true }).click();
    await detail(page).getByRole('log').getByText('I read the change').waitFor();
    await detail(page).getByLabel('Whose turns').selectOption('attempt:1');
    await detail(page).getByText('write_file').waitFor();
    await page.reload();
    await detail(page).getByText('write_file').waitFor();
    await detail(page).getByRole('link', { name: 'Log', exact: true }).click();
    await detail(page).getByText(/^Merged as [0-9a-f]{10}$/).waitFor();

    await page.getByRole('link', { name: 'Report' }).click();
    await page.getByRole('dialog').getByText('2 tickets: 2 completed.').waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    assert.equal((await downloading).suggestedFilename(), 'from_the_page.md');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Merge…' }).click();
    const release = page.getByRole('dialog').getByLabel('Into the branch');
    await release.fill('nowhere');
    await page.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.getByText('There is no such branch.').waitFor();
    git(suite.masque, 'branch', 'release', 'main');
    await release.fill('release');
    await page.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.getByText("release has the track's work").waitFor();
    assert.match(git(suite.masque, 'show', 'release:names.txt'), /^Ada$/m);
    assert.equal(git(suite.masque, 'status', '--porcelain'), '');
    assert.equal((await suite.masque.api('GET', `/api/tracks/${id}`)).phase, 'finished');
  }));

test('a worker asks, and goes on with the answer', () =>
  suite.page({}, async (page) => {
    const id = await start('Ask me', [['greeting']]);
    await page.goto(`/tracks/${id}`);
    const need = page.getByRole('region', { name: 'greeting needs you' });
    await need.getByText('Which greeting is meant').waitFor();
    assert.equal(await need.getByRole('button', { name: 'Answer' }).isDisabled(), true);
    await need.getByLabel('Your answer').fill('Good day');
    await need.getByRole('button', { name: 'Answer' }).click();
    await headline(page, 'Ask me: finished');
    await need.waitFor({ state: 'detached' });
    assert.match(git(suite.masque, 'show', `${(await suite.masque.api('GET', `/api/tracks/${id}`)).branch}:greeting.txt`), /Good day/);
  }));

test('a call that needs permission waits on the board, and runs once it is allowed', () =>
  suite.page({}, async (page) => {
    const id = await start('Let me look', [['listing']]);
    await page.goto(`/tracks/${id}`);
    await page.getByText('$ ls -la').waitFor();
    await yes(page.getByRole('button', { name: 'Allow once' }));
    await headline(page, 'Let me look: finished');
  }));

test('a result that is sent back shows its findings, and the attempt that followed', () =>
  suite.bothWidths({}, async (page) => {
    await page.goto(track('board', '?ticket=careless')());
    await detail(page).getByText('Review 1').click();
    await detail(page).getByText('careless.txt:1').waitFor();
    await detail(page).getByText('does not learn how the sentence goes on').waitFor();
    await detail(page).getByText('Attempt 2').waitFor();
  }));

test('a result without a check waits for a person: sent back once, then accepted', () =>
  suite.page({}, async (page) => {
    const id = await start('No check', [['readme']], '');
    await page.goto(`/tracks/${id}`);
    const need = page.getByRole('region', { name: 'readme needs you' });
    await need.getByText('has no check').waitFor();
    await need.getByRole('button', { name: 'Send back…' }).click();
    await need.getByLabel('What should change?').fill('Say more.');
    await need.getByRole('button', { name: 'Send back', exact: true }).click();
    await board(suite.masque, id, (now) => now.tickets[0].attempts.length === 2 && now.needs.length === 1, 'no second attempt');
    await page.reload();
    await yes(need.getByRole('button', { name: 'Accept' }));
    await headline(page, 'No check: finished');
  }));

test('a model drafts a track from an epic, and a person approves its tickets', () =>
  suite.page({ allowed: REFUSED }, async (page) => {
    await page.goto('/tracks/new?from=epic');
    await page.getByLabel('What is to be reached?').fill('Everybody is greeted.');
    await page.getByRole('button', { name: 'Draft the track' }).click();
    await toml1(page).waitFor();
    assert.match(await toml1(page).inputValue(), /title = "Greet everybody"/);
    await page.getByText('A model drafted these tickets.').waitFor();
    await page.getByRole('button', { name: 'Create and start' }).click();
    await page.waitForURL(/\/tracks\/[0-9a-f-]{36}$/);
    await page.getByText('A model planned 2 tickets.').waitFor();
    await look(page, 'track-planned', { axe: false });
    await yes(page.getByRole('button', { name: 'Approve all 2' }));
    await headline(page, 'Greet everybody: finished');
  }));

test('a ticket that cannot go on is tried again with a note, then cancelled with a reason', () =>
  suite.page({}, async (page) => {
    const id = await start('Impossible', [['impossible']]);
    await page.goto(`/tracks/${id}?ticket=impossible`);
    await detail(page).getByText('Somebody has to name a source').waitFor();
    await detail(page).getByRole('button', { name: 'Retry with…' }).click();
    await page.getByRole('dialog').getByLabel('Model').selectOption('stage/understudy');
    await page.getByRole('dialog').getByLabel('What the worker should know').fill('Try the almanac.');
    await look(page, 'track-retry');
    await page.getByRole('button', { name: 'Try again' }).click();
    const now = await board(suite.masque, id, ({ tickets }) => tickets[0].attempts.length === 2 && tickets[0].need, 'no second attempt');
    assert.equal(now.tickets[0].attempts[1].model, 'stage/understudy');
    await detail(page).getByText('escalated 1 ×').first().waitFor();
    await detail(page).getByRole('button', { name: 'Cancel the ticket…' }).click();
    await page.getByRole('dialog').getByLabel('Why').fill('nobody knows');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the ticket' }).click();
    await headline(page, 'Impossible: finished');
    await detail(page).getByRole('link', { name: 'Log', exact: true }).click();
    await detail(page).getByText('nobody knows').waitFor();
  }));

test('each step is approved by a person, where the track wants that', () =>
  suite.page({}, async (page) => {
    const id = await start('Step by step', [['readme']], 'check = "sh check.sh"\nstep_approval = true');
    await page.goto(`/tracks/${id}`);
    const steps = [];
    const need = page.getByRole('region', { name: 'readme needs you' });
    for (let now = await board(suite.masque, id, ({ needs }) => needs.length === 1, 'no step waits'); now.phase !== 'finished'; ) {
      const { step } = now.needs[0];
      steps.push(step);
      await need.getByText('waits for approval of its next step').waitFor();
      await yes(need.getByRole('button', { name: 'Approve the step' }));
      now = await board(suite.masque, id, ({ phase, needs }) => phase === 'finished' || (needs.length === 1 && needs[0].step !== step), 'no next step');
    }
    await headline(page, 'Step by step: finished');
    assert.ok(steps.length > 1, steps.join());
  }));

test('a cap that is reached is raised, and a cap in money without a price is removed', () =>
  suite.page({}, async (page) => {
    const id = await start('Too dear', [['readme']], 'check = "sh check.sh"\n[caps]\nticket = { tokens = 500 }\ntrack = { cost = 1.5 }');
    await page.goto(`/tracks/${id}`);
    const need = page.getByRole('region', { name: 'readme needs you' });
    const dialog = page.getByRole('dialog');
    const change = async () => {
      await page.getByRole('button', { name: 'Change the cap' }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    for (let tries = 0; tries < 2; tries += 1) {
      const { needs } = await board(suite.masque, id, (now) => now.needs.length === 1, 'no cap stops it');
      if (needs[0].need === 'cap') {
        await need.getByRole('button', { name: 'Raise the cap…' }).click();
        assert.equal(await dialog.getByLabel('Tokens').inputValue(), '500');
        await dialog.getByLabel('Tokens').fill('');
      } else {
        await need.getByRole('button', { name: 'Remove the cap in money…' }).click();
        assert.equal(await dialog.getByLabel('Money').inputValue(), '');
      }
      await change();
      await board(suite.masque, id, ({ phase, needs: [now] }) => phase === 'finished' || (now && now.need !== needs[0].need), 'it does not go on');
    }
    await headline(page, 'Too dear: finished');
  }));

test('a setup and a base that are red wait for a person', () =>
  suite.page({}, async (page) => {
    const inside = (name) => join(suite.masque.directory, name);
    const id = await start('Red', [['readme']], `check = "test -f '${inside('green')}'"\n[setup]\ncommand = "test -f '${inside('ready')}'"`);
    await page.goto(`/tracks/${id}`);
    const need = page.getByRole('region', { name: 'readme needs you' });
    await need.getByText('could not be set up').waitFor();
    writeFileSync(inside('ready'), '');
    await need.getByRole('button', { name: 'Try again…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Try again' }).click();
    await need.getByText('starts from a base on which').waitFor();
    await row(page, 'readme').click();
    await detail(page).getByText('the check fails before anything is changed').waitFor();
    await page.keyboard.press('Escape');
    writeFileSync(inside('green'), '');
    await yes(need.getByRole('button', { name: 'Start on it all the same' }));
    await headline(page, 'Red: finished');
  }));

test('a refusal stands beside what caused it', () =>
  suite.page({ allowed: REFUSED }, async (page) => {
    const id = await start('Both at once', [['greeting']]);
    await page.goto(`/tracks/${id}`);
    const need = page.getByRole('region', { name: 'greeting needs you' });
    await need.getByLabel('Your answer').fill('Good day');
    await page.route('**/answer', (route) => route.fulfill({ status: 409, contentType: 'application/problem+json', body: JSON.stringify({ detail: 'ticket "greeting" is merged', code: 'track_state' }) }));
    await need.getByRole('button', { name: 'Answer' }).click();
    await need.getByRole('alert').getByText('ticket "greeting" is merged').waitFor();
    assert.equal(await need.getByLabel('Your answer').inputValue(), 'Good day');
  }));

test('pause, resume, change the cap, cancel', () =>
  suite.page({}, async (page) => {
    const id = await start('Hold on', [['essay'], ['names', 'essay']]);
    await page.goto(`/tracks/${id}`);
    await page.getByRole('button', { name: 'Pause' }).click();
    await headline(page, 'Hold on: paused');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.getByRole('button', { name: 'More about the track' }).click();
    await page.getByRole('menuitem', { name: 'Change the cap…' }).click();
    await page.getByRole('dialog').getByLabel('Tokens').fill('a lot');
    assert.equal(await page.getByRole('button', { name: 'Change the cap' }).isDisabled(), true);
    await page.getByRole('dialog').getByLabel('Tokens').fill('5,000,000');
    await page.getByRole('button', { name: 'Change the cap' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal((await suite.masque.api('GET', `/api/tracks/${id}`)).cap.tokens, 5_000_000);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('cancel the track');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Cancel the track' }).click();
    await headline(page, 'Hold on: cancelled');
  }));

test('the address is the state, the keyboard reaches every ticket, and the graph stays still', () =>
  suite.page({}, async (page) => {
    const id = await start('Still', [['greeting'], ['names', 'greeting'], ['readme', 'names']]);
    await page.goto(`/tracks/${id}`);
    await page.getByRole('region', { name: 'greeting needs you' }).waitFor();
    await node(page, 'readme').waitFor();
    const places = () => page.locator('[data-node]').evaluateAll((nodes) => nodes.map(({ dataset, style }) => `${dataset.node} ${style.left} ${style.top}`).sort());
    const before = await places();
    await node(page, 'greeting').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.waitForURL('**ticket=names');
    await detail(page).getByText('Waits for greeting').waitFor();
    await page.locator('body').click({ position: { x: 5, y: 400 } });
    await page.keyboard.press('Escape');
    await detail(page).waitFor({ state: 'detached' });
    await page.keyboard.press('j');
    await detail(page).getByText('Which greeting is meant').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Search tickets').fill('how to greet');
    await page.waitForURL(/q=how/);
    await page.reload();
    await row(page, 'readme').waitFor();
    assert.equal(await page.locator('[data-focus-key^="ticket-"]').count(), 1);
    await page.getByLabel('Search tickets').fill('');
    await page.getByLabel('Group by').selectOption('tier');
    await page.getByRole('heading', { name: /Tier 3/ }).waitFor();
    const need = page.getByRole('region', { name: 'greeting needs you' });
    await need.getByLabel('Your answer').fill('Good day');
    await need.getByRole('button', { name: 'Answer' }).click();
    await headline(page, 'Still: finished');
    assert.deepEqual(await places(), before);
  }));

test('a lost connection comes back by itself, and misses nothing', async () => {
  const line = await suite.masque.line();
  const id = await start('Far away', [['greeting'], ['names', 'greeting']]);
  try {
    await suite.page({ origin: line.origin, allowed: LOST }, async (page) => {
      await page.goto(`/tracks/${id}`);
      await page.getByRole('region', { name: 'greeting needs you' }).waitFor();
      await line.close();
      await page.getByText('The connection is lost.').first().waitFor();
      await suite.masque.api('POST', `/api/tracks/${id}/tickets/greeting/answer`, { answer: 'Good day' });
      await board(suite.masque, id, ({ phase }) => phase === 'finished', 'the track does not end');
      await line.open(Number(new URL(line.origin).port));
      await headline(page, 'Far away: finished');
      await page.getByRole('link', { name: '2 done' }).waitFor();
    });
  } finally {
    line.cut();
    line.server.close();
  }
});

test('on a phone a ticket covers the board, and the board is one step back', () =>
  suite.page({ viewport: PHONE }, async (page) => {
    await page.goto(track('ended')());
    await row(page, 'readme').click();
    await detail(page).getByText('Small, and it does what the ticket says.').waitFor();
    assert.equal(await row(page, 'readme').isVisible(), false);
    await page.goBack();
    await row(page, 'readme').waitFor();
  }));

test('no track yet: the page says how to begin, and takes a file that is dropped on it', async () => {
  const empty = await Masque.start({ script: SCRIPT, files: FILES });
  const cookies = [{ name: 'masque_token', value: empty.token, domain: '127.0.0.1', path: '/', httpOnly: true, sameSite: 'Strict' }];
  try {
    await suite.bothWidths({ origin: empty.origin, cookies }, async (page) => {
      await page.goto('/tracks');
      await page.getByRole('heading', { name: 'No track yet' }).waitFor();
      await settled(page);
      await look(page, 'empty-tracks');
      const file = await page.evaluateHandle((text) => {
        const data = new DataTransfer();
        data.items.add(new File([text], 'track.toml', { type: 'application/toml' }));
        return data;
      }, toml('Dropped', [['names']]));
      await page.getByRole('heading', { name: 'No track yet' }).dispatchEvent('drop', { dataTransfer: file });
      await page.waitForURL('**/tracks/new');
      await page.getByText('The project is no git repository').waitFor();
      assert.match(await toml1(page).inputValue(), /title = "Dropped"/);
    });
  } finally {
    await empty.stop();
  }
});

const PAGES = { tracks: () => '/tracks', track: track('board'), ticket: track('board', '?ticket=names') };
const READS = /\/api\/(?!events)/;

test('a server that takes its time: the places of tracks hold their room', () =>
  suite.bothWidths({ allowed: LOST }, async (page) => {
    await page.route(READS, () => {});
    for (const [name, address] of Object.entries(PAGES)) {
      await page.goto(address());
      await page.locator('main').locator('.skeleton, [aria-busy], h1, h2').first().waitFor({ state: 'attached' });
      await look(page, `loading-${name}`);
    }
  }));

test('a server that fails: the places of tracks say so in the sentence that it sent', () =>
  suite.bothWidths({ allowed: /status of 500|net::/ }, async (page) => {
    const body = JSON.stringify({ type: 'about:blank', title: 'Broken', status: 500, detail: 'The disk is full; make room and try again.', code: 'broken' });
    await page.route(READS, (route) => route.fulfill({ status: 500, contentType: 'application/problem+json', body }));
    for (const [name, address] of Object.entries(PAGES)) {
      await page.goto(address());
      await page.getByText('The disk is full').locator('visible=true').first().waitFor();
      await look(page, `failing-${name}`);
    }
    await page.unroute(READS);
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await detail(page).getByText('names.txt has a line for Ada').first().waitFor();
  }));

test('a track of a thousand tickets: the list draws what is in view, the graph the surroundings of one', () =>
  suite.bothWidths({}, async (page) => {
    const tickets = Array.from({ length: 1000 }, (_, at) => `[[tickets]]\nid = "T${at}"\ntitle = "Step ${at}"\ndepends_on = ${at % 10 === 0 ? '[]' : `["T${at - 1}"]`}\n`);
    const { id } = await suite.masque.api('POST', '/api/tracks', { toml: `title = "A long way"\n${tickets.join('')}` });
    await page.goto(`/tracks/${id}?ticket=T505`);
    await detail(page).getByText('Waits for T504').waitFor();
    assert.ok((await page.locator('[data-focus-key^="ticket-"]').count()) < 100);
    if (page.viewportSize().width !== PHONE.width) {
      await node(page, 'T505').waitFor();
      assert.ok((await page.locator('[data-node]').count()) <= 160);
    }
    await page.goto(`/tracks/${id}?q=step+99`);
    await row(page, 'T99').waitFor();
    await look(page, 'track-long', { axe: false });
  }));
