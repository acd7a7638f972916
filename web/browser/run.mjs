// Runs the browser tests: `npm run browser [part of a name]`. A part of a file's name picks files; any other
// word picks tests by their names.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
/** Most of a test is waiting, so two files share a core. */
const AT_ONCE = 3;
const TIMEOUT_MS = 600_000;

const wanted = process.argv.slice(2).join(' ');
const all = readdirSync(here).filter((name) => name.endsWith('.test.mjs'));
const files = all.filter((name) => name.includes(wanted));
const picks = files.length > 0 ? [] : [`--test-name-pattern=${wanted.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`];
const paths = (files.length > 0 ? files : all).map((name) => join(here, name));
const args = ['--test', `--test-concurrency=${AT_ONCE}`, `--test-timeout=${TIMEOUT_MS}`, '--test-reporter=spec', ...picks, ...paths];
const tests = spawn(process.execPath, args, { stdio: 'inherit' });
tests.on('exit', (code) => process.exit(code ?? 1));
