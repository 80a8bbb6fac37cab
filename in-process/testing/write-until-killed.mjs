// @ts-check
// A process that writes to the given folder, and prints each acknowledged write, until it is killed.
import { pathToFileURL } from 'node:url';

const [, , program = '', folder = ''] = process.argv;
/** @type {typeof import('../node.ts')} */
const { openDatabase } = await import(pathToFileURL(program).href);
const db = await openDatabase(folder);
const client = db.client();
await client.CreateCollection({ name: 'notes' });
const notes = await client.Collection('notes');
for (let n = 0; ; n += 4) {
  const four = [n, n + 1, n + 2, n + 3];
  await Promise.all(
    four.map(async (each) => {
      await client.Create(notes, { data: { n: each } });
      process.stdout.write(`${each}\n`);
    }),
  );
}
