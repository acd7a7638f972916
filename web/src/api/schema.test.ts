import { readFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import { expect, test } from 'vitest';

// The server writes openapi.json (a test on its side compares it); this test compares the types.
test('schema.d.ts is what `npm run api` makes of openapi.json', async () => {
  const document = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
  const fresh = astToString(await openapiTS(document));
  const kept = readFileSync(new URL('./schema.d.ts', import.meta.url), 'utf8');
  const code = (text: string) => text.replace(/^\/\*\*[\s\S]*?\*\/\s*/, '').trim();
  expect(code(kept) === code(fresh), 'run `npm run api` in web/').toBe(true);
});
