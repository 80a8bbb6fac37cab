// `npm run types`: each room under its own libraries, so no room can use a global its host lacks. By the compiler of TypeScript 7, in a
// third of the time: version 5 stays for what reads programs by its API, and for the declarations that are published.
import { join } from 'node:path';
import { root } from './setup.mjs';
import { inLanes, run } from './side-by-side.mjs';

/** The longest first, so that none is left alone at the end. */
const rooms = ['tests', 'tools', 'page', 'worker', 'in-process', 'engine', 'hub', 'demo'];

/** tsc ends with this when a room has no file yet: nothing to check is no failure. */
const NO_INPUTS = 'error TS18003';

await inLanes(rooms, 2, async (room) => {
  const tsc = join(root, 'node_modules/typescript-7/bin/tsc');
  const args = [tsc, '-p', `tsconfig.${room}.json`, '--pretty', 'false'];
  const { ok, printed } = await run(process.execPath, args);
  if (ok || printed.startsWith(NO_INPUTS)) return;
  console.error(`types of ${room}:\n${printed}`);
  process.exitCode = 1;
});
