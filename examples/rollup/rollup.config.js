import { cpSync } from 'node:fs';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { burrow } from 'burrowdb/rollup';

const page = {
  name: 'page',
  writeBundle: () => cpSync('src/index.html', 'dist/index.html'),
};

export default {
  input: 'src/main.js',
  output: { dir: 'dist', format: 'es' },
  plugins: [nodeResolve(), burrow(), page],
};
