// Runs vitest's browser tests in a system browser, which only has to open a URL.
import { setTimeout as after } from 'node:timers/promises';
import { defineBrowserProvider } from '@vitest/browser';
import { launch } from './launch.mjs';

/** @typedef {import('./launch.mjs').RunningBrowser} RunningBrowser */

/** @param {import('./kinds.mjs').Kind} kind */
export const systemBrowser = (kind) =>
  defineBrowserProvider({
    name: 'system',
    options: {},
    providerFactory: (project) => new SystemBrowserProvider(kind, project),
  });

const LOOK_AGAIN_MS = 50;

/**
 * Starts a browser with its own profile for each session, so no test sees what another session stored. It cannot click, type or mock
 * modules.
 * @implements {import('vitest/node').BrowserProvider}
 */
class SystemBrowserProvider {
  name = 'system';
  supportsParallelism = true;
  /** @type {Map<string, RunningBrowser>} */
  #browsers = new Map();
  #kind;
  #project;

  /** @param {import('./kinds.mjs').Kind} kind @param {import('vitest/node').TestProject} project */
  constructor(kind, project) {
    this.#kind = kind;
    this.#project = project;
  }

  getCommandsContext() {
    return {};
  }

  /** Resolves when the page has connected. @param {string} sessionId @param {string} url */
  async openPage(sessionId, url) {
    await this.#browsers.get(sessionId)?.close();
    const browser = await launch({ kind: this.#kind, url });
    this.#browsers.set(sessionId, browser);
    let hasExited = false;
    void browser.exited.then(() => (hasExited = true));
    const isConnected = () => this.#project.browser?.state.orchestrators.has(sessionId) === true;
    while (!isConnected()) {
      if (hasExited) throw new Error(`${this.#kind} exited before it opened the test page.`);
      await after(LOOK_AGAIN_MS);
    }
  }

  async close() {
    const browsers = [...this.#browsers.values()];
    this.#browsers.clear();
    await Promise.all(browsers.map((browser) => browser.close()));
  }
}
