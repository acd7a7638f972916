// The real binary with its own page on a port of its own, an empty library, and a scripted model.
// MASQUE_BIN names the binary (target/debug/masque by default).
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const BINARY = process.env.MASQUE_BIN ?? join(ROOT, 'target/debug/masque');
const SCRIPT = fileURLToPath(new URL('talk.toml', import.meta.url));
const START_MS = 60_000;
/** A run of the scripted model takes seconds; the rest is for a slow machine. */
const PATIENCE_MS = 60_000;
const POLL_MS = 40;

/** Starts a process and waits for the first match of `pattern` in what it prints. */
function start(args, pattern, options) {
  const child = spawn(BINARY, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  child.printed = '';
  return new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`masque ${args.join(' ')} ${why}:\n${child.printed}`));
    const timer = setTimeout(() => fail('did not start in time'), START_MS);
    const read = (piece) => {
      child.printed += piece;
      const found = pattern.exec(child.printed);
      if (found) (clearTimeout(timer), resolve({ child, found: found[1] }));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('error', reject);
    child.on('exit', (code) => (clearTimeout(timer), fail(`ended with ${code}`)));
  });
}

async function stop(child) {
  if (!child || child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  // Open streams of a page may delay a graceful end.
  const hurry = setTimeout(() => child.kill('SIGKILL'), 2_000);
  await ended;
  clearTimeout(hurry);
}

export class Masque {
  /** `toml` is the project's personas.toml; `files` are more files of the project. With `script: null` there is
   * no model; `flags` go to `masque serve`. */
  static async start({ toml = '', files = {}, script = SCRIPT, flags = [] } = {}) {
    if (!existsSync(BINARY)) throw new Error(`${BINARY} is missing: cargo build -p masque`);
    const made = new Masque();
    made.directory = mkdtempSync(join(tmpdir(), 'masque-browser-'));
    const inside = (name) => join(made.directory, name);
    for (const name of ['home', 'config/masque', 'data', 'state', 'cache', 'project']) mkdirSync(inside(name), { recursive: true });
    made.project = inside('project');
    made.env = {
      PATH: process.env.PATH,
      HOME: inside('home'),
      XDG_CONFIG_HOME: inside('config'),
      XDG_DATA_HOME: inside('data'),
      XDG_STATE_HOME: inside('state'),
      XDG_CACHE_HOME: inside('cache'),
    };
    writeFileSync(join(made.project, 'personas.toml'), toml);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(made.project, name), text);
    try {
      if (script) {
        const { child, found } = await start(['rehearse', script, '--json'], /"url":"([^"]+)"/, { env: made.env });
        made.model = child;
        writeFileSync(inside('config/masque/config.toml'), `[providers.stage]\nkind = "anthropic"\nbase_url = "${found}"\n`);
      }
      const args = ['--project', made.project, 'serve', '--addr', '127.0.0.1:0', ...flags];
      const { child, found } = await start(args, /open\s+(http:\/\/\S+)/, { env: made.env, cwd: made.project });
      made.server = child;
      made.address = found;
    } catch (error) {
      await made.stop();
      throw error;
    }
    const { origin, searchParams } = new URL(made.address);
    made.origin = origin;
    made.token = searchParams.get('token');
    return made;
  }

  async stop() {
    await Promise.all([stop(this.server), stop(this.model)]);
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Everything that the server printed. */
  get log() {
    return this.server.printed;
  }

  /** Runs a command of the binary on the same library. */
  command(...args) {
    const child = spawn(BINARY, ['--project', this.project, ...args], { env: this.env, cwd: this.project, stdio: ['ignore', 'pipe', 'pipe'] });
    let printed = '';
    child.stdout.on('data', (piece) => (printed += piece));
    child.stderr.on('data', (piece) => (printed += piece));
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', (code) => (code === 0 ? resolve(printed) : reject(new Error(`masque ${args.join(' ')} ended with ${code}:\n${printed}`))));
    });
  }

  async fetch(method, path, body) {
    const headers = { authorization: `Bearer ${this.token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    return fetch(this.origin + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  }

  /** A request past the page. */
  async api(method, path, body) {
    const answer = await this.fetch(method, path, body);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  put(kind, name, entity, more = {}) {
    return this.api('PUT', `/api/library/${kind}/${name}`, { entity, ...more });
  }

  get(kind, name) {
    return this.api('GET', `/api/library/${kind}/${name}`);
  }

  async newSession(more = {}) {
    return (await this.api('POST', '/api/sessions', { persona: 'doc_writer', ...more })).id;
  }

  /** Sends a message past the page and waits for the end of its run, or for its first question. */
  async say(id, content) {
    const answer = await this.fetch('POST', `/api/sessions/${id}/messages`, { content, detached: true, approve: 'ask' });
    if (!answer.ok) throw new Error(`a message: ${answer.status} ${await answer.text()}`);
    await answer.body.cancel();
    await until(async () => (await this.api('GET', `/api/sessions/${id}`)).status !== 'running', `the session ${id} still runs`);
  }

  /** Tells the editing agent something and waits for its last event. */
  async tell(personaId, message) {
    const answer = await this.fetch('POST', '/api/persona-agent/chat', { personaId, message });
    const text = await answer.text();
    if (!answer.ok || !/"type":"done"/.test(text)) throw new Error(`the agent: ${answer.status} ${text}`);
  }

  /** Tests a persona, or compares two versions of it, and waits for the report. */
  async test(body, path = '/api/tests') {
    const { id } = await this.api('POST', path, body);
    await until(async () => (await this.api('GET', `/api/tests/${id}`)).state !== 'running', `the test ${id} still runs`);
    return id;
  }

  /** The server behind a line that the test can hold, let go and cut. */
  async line() {
    const made = new Line(Number(new URL(this.origin).port));
    await made.open();
    return made;
  }
}

/** Waits until `check` holds. */
export async function until(check, otherwise) {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(otherwise);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** A connection to the server. What comes back from it can be held, as a slow network does; `cut` breaks it. */
class Line {
  #sockets = new Set();
  #held = false;
  #far;

  constructor(port) {
    this.#far = port;
  }

  /** `port` opens it again where it was. */
  async open(port = 0) {
    this.server = net.createServer((near) => {
      const far = net.connect(this.#far, '127.0.0.1');
      const pair = { near, far };
      this.#sockets.add(pair);
      for (const socket of [near, far]) {
        socket.on('error', () => {});
        socket.on('close', () => (near.destroy(), far.destroy(), this.#sockets.delete(pair)));
      }
      near.pipe(far);
      far.on('data', (piece) => {
        near.write(piece);
        if (this.#held) far.pause();
      });
      far.on('end', () => near.end());
      if (this.#held) far.pause();
    });
    await new Promise((resolve) => this.server.listen(port, '127.0.0.1', resolve));
    this.origin = `http://127.0.0.1:${this.server.address().port}`;
  }

  hold() {
    this.#held = true;
    for (const { far } of this.#sockets) far.pause();
  }

  release() {
    this.#held = false;
    for (const { far } of this.#sockets) far.resume();
  }

  cut() {
    for (const { near, far } of this.#sockets) (near.destroy(), far.destroy());
  }

  async close() {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
