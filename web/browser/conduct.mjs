// What the tests of tracks share: a git repository, tracks, and the ways to wait for them.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { until } from './masque.mjs';

export const SCRIPT = fileURLToPath(new URL('conduct.toml', import.meta.url));
export const FILES = { 'README.md': '# Greeter\n', 'check.sh': 'test -s README.md\n' };

const TICKETS = {
  names: 'title = "Write the names down"\ndescription = "One **name** in each line, and nobody twice."\nacceptance = ["names.txt has a line for Ada"]',
  careless: 'title = "Write the rule down"',
  greeting: 'title = "Choose the greeting"\ndescription = "The greeting stands in greeting.txt."',
  listing: 'title = "List what is there"',
  essay: 'title = "Explain the project"',
  readme: 'title = "Say how to greet"',
  impossible: 'title = "Add the birthdays"',
};

/** A track.toml. `tickets` are rows of an id and those that it depends on. */
export function toml(title, tickets, head = 'check = "sh check.sh"') {
  const rows = tickets.map(([id, ...after]) => `[[tickets]]\nid = "${id}"\n${TICKETS[id]}\ndepends_on = ${JSON.stringify(after)}\n`);
  return `title = "${title}"\ngoal = "Everybody is greeted by name."\n${head}\n\n${rows.join('\n')}`;
}

export function git(masque, ...args) {
  return execFileSync('git', ['-C', masque.project, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], { encoding: 'utf8', env: masque.env });
}

export function repository(masque) {
  git(masque, 'init', '--quiet', '--initial-branch=main');
  git(masque, 'add', '--all');
  git(masque, 'commit', '--quiet', '--message=Begin');
}

/** Creates a track past the page, and starts it. */
export async function started(masque, text, more = {}) {
  const { id } = await masque.api('POST', '/api/tracks', { toml: text });
  await masque.api('POST', `/api/tracks/${id}/start`, more);
  return id;
}

/** Waits until the board of a track is as `check` says, and returns it. */
export async function board(masque, id, check, otherwise) {
  let last;
  await until(async () => check((last = await masque.api('GET', `/api/tracks/${id}`))), `${otherwise}: ${JSON.stringify(last?.tickets.map((ticket) => [ticket.id, ticket.state]))}`);
  return last;
}

export const stateOf = (now, ticket) => now.tickets.find(({ id }) => id === ticket)?.state;
