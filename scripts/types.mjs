// `npm run types`: type-checks each room with the libraries of its host, so that no room can use a global that its host lacks. Uses the
// compiler of TypeScript 7, which takes a third of the time; version 5 is kept for its API and for the published declarations.
import { join } from 'node:path';
import { root } from './setup.mjs';
import { inLanes, run } from './side-by-side.mjs';

/** The slowest first, so that none of them runs alone at the end. */
const rooms = ['tests', 'tools', 'page', 'worker', 'in-process', 'engine', 'hub', 'demo'];

/** The error of tsc when a room has no files yet: there is nothing to check, so it is not a failure. */
const NO_INPUTS = 'error TS18003';

await inLanes(rooms, 2, async (room) => {
  const tsc = join(root, 'node_modules/typescript-7/bin/tsc');
  const args = [tsc, '-p', `tsconfig.${room}.json`, '--pretty', 'false'];
  const { ok, printed } = await run(process.execPath, args);
  if (ok || printed.startsWith(NO_INPUTS)) return;
  console.error(`types of ${room}:\n${printed}`);
  process.exitCode = 1;
});
