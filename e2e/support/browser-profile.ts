/** A browser of its own, whose profile lies on disk and survives it. */
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

  /** A new tab with the app loaded. Starts the browser when it does not run. */
  async openTab(): Promise<Page> {
    const context = await this.start();
    const page = await context.newPage();
    await loadApp(page);
    return page;
  }

  /** The running browser. */
  async start(): Promise<BrowserContext> {
    this.context ??= await chromium.launchPersistentContext(this.folder, this.options);
    return this.context;
  }

  /** The debugging protocol of a page. Overrides last as long as it is attached. */
  async debug(page: Page): Promise<CDPSession> {
    return (await this.start()).newCDPSession(page);
  }

  /** SIGKILL to every process of this browser, at once. */
  async kill(): Promise<void> {
    const pids = await this.pids();
    expect(pids.length, 'processes of the browser').toBeGreaterThan(0);
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        // Its parent died before it, and took it along.
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

  /** Another browser that has all that this one has. Neither may run. */
  async copy(): Promise<BrowserProfile> {
    const copy = await BrowserProfile.create(this.options);
    await cp(this.folder, copy.folder, { recursive: true });
    return copy;
  }

  async remove(): Promise<void> {
    await this.close();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  /** Only processes that name this profile's folder: nobody else's. */
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
