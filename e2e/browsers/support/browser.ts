/** A system browser with its own profile on disk, which survives the browser. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch, type RunningBrowser } from '../../../scripts/browsers/launch.mjs';
import type { Kind } from '../../../scripts/browsers/kinds.mjs';
import { AppServer } from './app-server.ts';
import type { Tab } from './tab.ts';

export interface StartOptions {
  readonly isPrivate?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Preferences of Firefox. */
  readonly prefs?: Readonly<Record<string, string | number | boolean>>;
}

export class Browser {
  readonly kind: Kind;
  private readonly app: AppServer;
  readonly profileDir: string;
  private running: RunningBrowser | undefined = undefined;

  private constructor(kind: Kind, app: AppServer, profileDir: string) {
    this.kind = kind;
    this.app = app;
    this.profileDir = profileDir;
  }

  /** Creates the profile. The browser is not started yet. */
  static async create(kind: Kind, appFolder: string): Promise<Browser> {
    const profileDir = await mkdtemp(join(tmpdir(), `burrow-${kind}-`));
    return new Browser(kind, await AppServer.start(appFolder), profileDir);
  }

  /** Starts the browser and returns its first tab. */
  async start(options: StartOptions = {}): Promise<Tab> {
    if (this.running) throw new Error('The browser runs.');
    const tab = this.app.newTab();
    const running = await launch({
      kind: this.kind,
      url: tab.url,
      profileDir: this.profileDir,
      ...options,
    });
    this.running = running;
    void running.exited.then(() => {
      if (this.running === running) this.running = undefined;
      this.app.loseTabs();
    });
    await tab.arrived();
    return tab;
  }

  /** Opens another tab with `window.open()` in `opener`. */
  async openTab(opener: Tab): Promise<Tab> {
    const tab = this.app.newTab();
    await opener.run((url) => void window.open(url, '_blank', 'noopener'), tab.url);
    await tab.arrived();
    return tab;
  }

  /** From now on, pages cannot load anything from the server. They stay connected to the test. */
  goOffline(): void {
    this.app.refuse();
  }

  /** Sends SIGKILL to all processes of the browser. */
  async kill(): Promise<void> {
    this.running?.kill();
    await this.running?.exited;
  }

  async close(): Promise<void> {
    await this.running?.close();
  }

  /** Closes the browser and deletes all that it stored. */
  async remove(): Promise<void> {
    await this.close();
    await this.app.close();
    await rm(this.profileDir, { recursive: true, force: true, maxRetries: 10 });
  }
}
