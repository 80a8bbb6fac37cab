/** A browser with its own profile on disk, which survives the browser. */
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  chromium,
  expect,
  type BrowserContext,
  type CDPSession,
  type LaunchOptions,
  type Page,
} from '@playwright/test';

export class BrowserProfile {
  private readonly folder: string;
  private readonly options: LaunchOptions;
  private context: BrowserContext | undefined = undefined;

  private constructor(folder: string, options: LaunchOptions) {
    this.folder = folder;
    this.options = options;
  }

  static async create(options: LaunchOptions): Promise<BrowserProfile> {
    return new BrowserProfile(await mkdtemp(join(tmpdir(), 'burrow-profile-')), options);
  }

  /** Opens a tab with the app. Starts the browser if it is not running. */
  async openTab(): Promise<Page> {
    const context = await this.start();
    const page = await context.newPage();
    await loadApp(page);
    return page;
  }

  /** Starts the browser if it is not running. */
  async start(): Promise<BrowserContext> {
    this.context ??= await chromium.launchPersistentContext(this.folder, this.options);
    return this.context;
  }

  /** A session of the Chrome DevTools Protocol for a page. Overrides last as long as the session is attached. */
  async debug(page: Page): Promise<CDPSession> {
    return (await this.start()).newCDPSession(page);
  }

  /** Sends SIGKILL to all processes of this browser at once. */
  async kill(): Promise<void> {
    const pids = await this.pids();
    expect(pids.length, 'processes of the browser').toBeGreaterThan(0);
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        // The process has ended together with its parent.
        if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
      }
    }
    await expect.poll(() => this.pids(), { intervals: [10] }).toEqual([]);
    const { context } = this;
    this.context = undefined;
    await context?.close().catch(() => undefined);
  }

  async close(): Promise<void> {
    const { context } = this;
    this.context = undefined;
    await context?.close();
  }

  /** Another browser with a copy of this profile. Neither browser may be running. */
  async copy(): Promise<BrowserProfile> {
    const copy = await BrowserProfile.create(this.options);
    await cp(this.folder, copy.folder, { recursive: true });
    return copy;
  }

  async remove(): Promise<void> {
    await this.close();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  /** Only processes whose command line names this profile's folder. */
  private async pids(): Promise<number[]> {
    const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const ours = await Promise.all(
      all.map(async (pid) => {
        const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
        return words.split('\0').includes(`--user-data-dir=${this.folder}`) ? Number(pid) : 0;
      }),
    );
    return ours.filter((pid) => pid > 0);
  }
}

export const appUrl = (): string => {
  const url = process.env['BURROW_E2E_APP'];
  if (url === undefined)
    throw new Error('The app is not served: e2e/support/serve-app.ts did not run.');
  return url;
};

export async function loadApp(page: Page): Promise<void> {
  await page.goto(appUrl());
  await page.waitForFunction(() => 'burrow' in globalThis);
}
