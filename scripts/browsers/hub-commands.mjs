// Commands for tests in a browser, executed by the process that runs the tests: start and stop an in-memory hub.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { quickPglite } from '../quick-pglite.mjs';
import { root } from '../setup.mjs';

/** @type {Map<string, import('node:child_process').ChildProcess>} */
const hubs = new Map();
process.on('exit', () => {
  for (const hub of hubs.values()) hub.kill();
});

/** Arguments and results are passed as JSON. @typedef {{ url: string; secret: string }} StartedHub */

export const hubCommands = {
  /**
   * @param {unknown} _context @param {string} cors origins whose pages may call the hub
   * @returns {Promise<StartedHub>}
   */
  startHub(_context, cors) {
    const secret = `burrow-root-${randomBytes(30).toString('base64url')}`;
    const args = ['hub', '--port', '0', '--data', 'memory:', '--cors', cors];
    const program = [...quickPglite, join(root, 'scripts/hub.mjs'), ...args];
    const hub = spawn(process.execPath, program, {
      env: { ...process.env, BURROW_ROOT_SECRET: secret },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    return new Promise((resolve, reject) => {
      hub.stdout.on('data', (part) => {
        said += String(part);
        const url = /burrow hub listening on (\S+)/.exec(said)?.[1];
        if (url === undefined || hubs.has(url)) return;
        hubs.set(url, hub);
        resolve({ url, secret });
      });
      hub.once('exit', () => reject(new Error(`The hub ended: ${said}`)));
    });
  },
  /** @param {unknown} _context @param {string} url */
  stopHub(_context, url) {
    hubs.get(url)?.kill();
    hubs.delete(url);
  },
};
