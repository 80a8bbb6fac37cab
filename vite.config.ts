// The demo. `npm start` builds and serves it; the library itself is built by scripts/build.mjs.
import { resolve } from 'node:path';
import { defineConfig } from 'vite';
import { demoPlugins } from './demo/build/plugins.mjs';
import { browserAlias, serviceWorkerBeside, workerFromSource } from './scripts/bundle.mjs';
import { trimPackages } from './scripts/trim-packages.mjs';

export default defineConfig({
  root: resolve(import.meta.dirname, 'demo'),
  base: './',
  // The demo's pages are in the fragment of the URL, so a path that is not a file is answered with 404.
  appType: 'mpa',
  resolve: { alias: browserAlias },
  plugins: [workerFromSource(), trimPackages(), serviceWorkerBeside(), ...demoPlugins()],
  worker: { format: 'es', plugins: () => [workerFromSource(), trimPackages()] },
  server: { fs: { allow: [import.meta.dirname] } },
  build: {
    target: 'es2022',
    outDir: process.env['BURROW_DEMO_OUT'] ?? resolve(import.meta.dirname, 'demo-dist'),
    emptyOutDir: true,
  },
});
