import { cpSync } from 'node:fs';
import { burrow } from 'burrowdb/esbuild';
import { build } from 'esbuild';

await build({
  entryPoints: ['src/main.js'],
  outdir: 'dist',
  bundle: true,
  minify: true,
  sourcemap: true,
  format: 'esm', // its worker is found by import.meta.url, which only modules have
  plugins: [burrow()],
});
cpSync('src/index.html', 'dist/index.html');
