// Writes NAME.br and NAME.gz beside each text file of this directory, unless they are no smaller.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const TEXT = /\.(css|html|js|json|mjs|svg|txt|wasm|webmanifest)$/;
const LEAST_BYTES = 1024;

const names = readdirSync(".", { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && TEXT.test(entry.name))
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name));

for (const name of names) {
  const content = readFileSync(name);
  // A build that keeps its directory leaves those of older content.
  for (const ending of [".br", ".gz"]) rmSync(name + ending, { force: true });
  if (content.length < LEAST_BYTES) continue;
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  for (const [ending, compressed] of [
    [".br", brotliCompressSync(content, quality)],
    [".gz", gzipSync(content, { level: 9 })],
  ]) {
    if (compressed.length < content.length) writeFileSync(name + ending, compressed);
  }
}
