/** A disk that keeps only what the browser has synced: what a power failure would leave. Linux, with a C compiler. */
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Browser } from './browser.ts';

/** The reason why there can be no such disk on this machine. */
export const whyNoDisk = (): string | undefined => {
  if (process.platform !== 'linux') return 'it is not Linux';
  return spawnSync('cc', ['--version']).status === 0 ? undefined : 'it has no C compiler (cc)';
};

export interface DiskWithoutCache {
  /** The environment in which the browser must be started. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends the browser and leaves of its profile what was synced. */
  readonly failPower: () => Promise<void>;
}

export async function diskWithoutCache(browser: Browser): Promise<DiskWithoutCache> {
  const folder = await mkdtemp(join(tmpdir(), 'burrow-kept-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const library = join(folder, 'kept-files.so');
  const source = join(import.meta.dirname, 'kept-files.c');
  const { status, stderr } = spawnSync(
    'cc',
    ['-O1', '-shared', '-fPIC', '-o', library, source, '-ldl'],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  const kept = join(folder, 'profile');
  return {
    env: { LD_PRELOAD: library, KEPT_FROM: browser.profileDir, KEPT_TO: kept },
    async failPower() {
      await browser.kill();
      await rm(browser.profileDir, { recursive: true });
      await cp(kept, browser.profileDir, { recursive: true });
    },
  };
}
