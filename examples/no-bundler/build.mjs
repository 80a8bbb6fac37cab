// Two files of the package are all that a page needs, and they find each other as long as they are in one folder.
import { cpSync } from 'node:fs';

cpSync('public', 'dist', { recursive: true });
for (const file of ['index.js', 'worker.js'])
  cpSync(`node_modules/burrowdb/dist/${file}`, `dist/burrowdb/${file}`);
