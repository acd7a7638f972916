// Runs the browser tests: `npm run e2e [part of a file name …]`.
//
// MASQUE_URL   a running server that serves the page (with `?token=…` if it wants one) and whose model plays
//              e2e/talk.toml; or
// MASQUE_BIN   the binary: starts the scripted model and a server in a temporary directory. If that binary
//              has no page, `vite preview` serves dist/ in front of it.
// CHROMIUM     the browser (/usr/bin/chromium).
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const web = fileURLToPath(new URL('..', import.meta.url));
const started = [];
const START_MS = 30_000;

/** Starts a process and waits for the first match of `pattern` in what it prints. */
function start(command, args, pattern, options = {}) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error(`${command} ${args.join(' ')} said nothing in time:\n${text}`)), START_MS);
    const read = (piece) => {
      text += piece;
      // Vite colours its address.
      const found = pattern.exec(text.replaceAll(/\u001b\[[0-9;]*m/g, ''));
      if (found) (clearTimeout(timer), resolve(found));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`${command} ended with ${code}:\n${text}`)));
  });
}

async function serve(binary, directory) {
  for (const name of ['home', 'config/masque', 'data', 'project']) mkdirSync(join(directory, name), { recursive: true });
  const env = {
    PATH: process.env.PATH,
    HOME: join(directory, 'home'),
    XDG_CONFIG_HOME: join(directory, 'config'),
    XDG_DATA_HOME: join(directory, 'data'),
    XDG_STATE_HOME: join(directory, 'data'),
  };
  const [, model] = await start(binary, ['rehearse', join(here, 'talk.toml')], /rehearses on (\S+)/, { env });
  writeFileSync(join(directory, 'config/masque/config.toml'), `[providers.stage]\nkind = "anthropic"\nbase_url = "${model}"\n`);
  writeFileSync(join(directory, 'project/personas.toml'), '');
  writeFileSync(join(directory, 'project/notes.txt'), 'hello\nworld\n');
  const cwd = join(directory, 'project');
  const [, address] = await start(binary, ['--project', cwd, 'serve', '--addr', '127.0.0.1:0'], /(http:\/\/\S+)/, { env, cwd });
  const answer = await fetch(address).catch(() => undefined);
  if (answer?.ok && answer.headers.get('content-type')?.includes('text/html')) return address;
  const [, preview] = await start('npx', ['vite', 'preview', '--port', '0', '--host', '127.0.0.1'], /(http:\/\/127\.0\.0\.1:\d+)/, {
    cwd: web,
    env: { ...process.env, MASQUE_URL: address },
    detached: true,
  });
  return preview;
}

const wanted = process.argv.slice(2);
const files = readdirSync(here)
  .filter((name) => name.endsWith('.test.mjs') && (wanted.length === 0 || wanted.some((part) => name.includes(part))))
  .map((name) => join(here, name));
let directory;
let code = 1;
try {
  let url = process.env.MASQUE_URL;
  if (!url) {
    if (!process.env.MASQUE_BIN) throw new Error('name a server by MASQUE_URL, or the binary by MASQUE_BIN');
    directory = mkdtempSync(join(tmpdir(), 'masque-e2e-'));
    url = await serve(process.env.MASQUE_BIN, directory);
  }
  const tests = spawn(process.execPath, ['--test', '--test-concurrency=1', '--test-reporter=spec', ...files], {
    cwd: web,
    stdio: 'inherit',
    env: { ...process.env, MASQUE_URL: url },
  });
  code = await new Promise((resolve) => tests.on('exit', (status) => resolve(status ?? 1)));
} catch (error) {
  console.error(error.message);
} finally {
  for (const child of started) {
    try {
      // `npx` has children of its own.
      if (child.spawnargs[0] === 'npx') process.kill(-child.pid);
      else child.kill();
    } catch {
      // It ended by itself.
    }
  }
  if (directory) rmSync(directory, { recursive: true, force: true });
}
process.exit(code);
