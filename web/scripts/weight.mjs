// Sums up what a first visit loads, compressed: index.html with everything that it names, and the
// library. Fails over the limit.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const LIMIT_KB = 250;
const dist = new URL('../dist/', import.meta.url);
const read = (path) => readFileSync(new URL(path, dist));
const seen = new Set();

function add(path) {
  if (seen.has(path)) return 0;
  seen.add(path);
  const bytes = read(path);
  let size = gzipSync(bytes, { level: 9 }).length;
  if (path.endsWith('.js')) {
    // Static imports only: what is imported on demand is not part of the first load.
    for (const [, file] of bytes.toString().matchAll(/(?:from|import)\s*["']\.\/([^"']+)["']/g)) size += add(`assets/${file}`);
  }
  return size;
}

const index = read('index.html').toString();
if (/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/.test(index)) {
  console.error('index.html has inline code or styles, which the content security policy refuses');
  process.exit(1);
}
let total = add('index.html');
for (const [, path] of index.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)) total += add(path);
const entry = [...seen].find((path) => /assets\/index-.*\.js$/.test(path));
for (const [file] of read(entry).toString().matchAll(/Library-[\w-]+\.(?:js|css)/g)) total += add(`assets/${file}`);

const kb = total / 1024;
console.log(`first load: ${kb.toFixed(1)} KB compressed in ${seen.size} files (limit ${LIMIT_KB} KB)`);
process.exit(kb > LIMIT_KB ? 1 : 0);
