import { cpSync, rmSync } from 'node:fs';
import { burrow } from 'burrowdb/esbuild';
import { build } from 'esbuild';
import { generateSW } from 'workbox-build';

rmSync('dist', { recursive: true, force: true });
cpSync('public', 'dist', { recursive: true });
await build({
  entryPoints: ['src/main.js'],
  outdir: 'dist',
  bundle: true,
  minify: true,
  format: 'esm', // its worker is found by import.meta.url, which only modules have
  plugins: [burrow()],
});
// The worker's file is among them: without it the database does not open offline.
// Without `skipWaiting` a new version waits until all tabs are closed, so that page and worker are of one build.
await generateSW({
  globDirectory: 'dist',
  globPatterns: ['**/*.{html,js,svg,webmanifest}'],
  swDest: 'dist/service-worker.js',
  sourcemap: false,
});
