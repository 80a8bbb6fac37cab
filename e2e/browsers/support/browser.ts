/** A browser of the system with a profile of its own on disk, that survives it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch, type RunningBrowser } from '../../../scripts/browsers/launch.mjs';
import type { Kind } from '../../../scripts/browsers/kinds.mjs';
import { AppServer } from './app-server.ts';
import type { Tab } from './tab.ts';

export interface StartOptions {
  readonly isPrivate?: boolean;
  /** Settings of Firefox. */
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

  /** Nothing runs yet. */
  static async create(kind: Kind, appFolder: string): Promise<Browser> {
    const profileDir = await mkdtemp(join(tmpdir(), `burrow-${kind}-`));
    return new Browser(kind, await AppServer.start(appFolder), profileDir);
  }

  /** The first tab of the browser, which is started for it. */
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

  /** Another tab, as a user opens one from `opener`. */
  async openTab(opener: Tab): Promise<Tab> {
    const tab = this.app.newTab();
    await opener.run((url) => void window.open(url, '_blank', 'noopener'), tab.url);
    await tab.arrived();
    return tab;
  }

  /** Pages load nothing from the server any more. The test is heard all the same. */
  goOffline(): void {
    this.app.refuse();
  }

  /** SIGKILL to all its processes. */
  async kill(): Promise<void> {
    this.running?.kill();
    await this.running?.exited;
  }

  async close(): Promise<void> {
    await this.running?.close();
  }

  /** It, and all that it stored. */
  async remove(): Promise<void> {
    await this.close();
    await this.app.close();
    await rm(this.profileDir, { recursive: true, force: true, maxRetries: 10 });
  }
}
