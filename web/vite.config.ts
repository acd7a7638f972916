import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

// `MASQUE_URL` names the server that `npm run dev` forwards to.
const server = process.env.MASQUE_URL ?? 'http://127.0.0.1:4747';

export default defineConfig({
  plugins: [svelte()],
  build: {
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    // The content security policy allows no data: scripts and no inline code, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/api': server, '/healthz': server } },
  preview: {
    proxy: { '/api': server, '/healthz': server },
    // The policy that the server sends, so that a violation shows while developing.
    headers: {
      'content-security-policy':
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
    },
  },
  resolve: process.env.VITEST ? { conditions: ['browser'] } : {},
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
});
