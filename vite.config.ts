// The demo. `npm start` builds and serves it; the library itself is built by scripts/build.mjs.
import { resolve } from 'node:path';
import { defineConfig } from 'vite';
import { demoPlugins } from './demo/build/plugins.mjs';
import { browserAlias, serviceWorkerBeside, workerFromSource } from './scripts/bundle.mjs';
import { trimPackages } from './scripts/trim-packages.mjs';

export default defineConfig({
  root: resolve(import.meta.dirname, 'demo'),
  base: './',
  // Places are in the hash, so an address that is no file is a mistake, and answered as one.
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
