// The hub of the demo, as a process of its own. It ends with whoever started it, however that one ended: the line between them breaks.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hubFolder } from './bundle-hub.mjs';

process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// A hub that could not start ends by itself.
process.channel?.unref();
await import(pathToFileURL(join(hubFolder, 'main.mjs')).href);
