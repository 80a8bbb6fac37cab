// The hub of the demo, as its own process. When the process that started it ends, in whatever way, the IPC channel closes and the hub shuts
// down.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hubFolder } from './bundle-hub.mjs';

process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// The channel must not keep the process of a hub alive that failed to start.
process.channel?.unref();
await import(pathToFileURL(join(hubFolder, 'main.mjs')).href);
