/** Disks that fill up quickly. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestContext } from 'vitest';

const run = promisify(execFile);

/** Mounts a small disk. Returns undefined, and prints the reason, if mounting is not allowed. */
async function mountSmallDisk(megabytes: number): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'burrow-disk-'));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0777`, 'tmpfs', folder]);
    return folder;
  } catch (reason) {
    await rm(folder, { recursive: true });
    console.log(`No disk of its own could be mounted: ${String(reason)}`);
    return undefined;
  }
}

/** Runs a test on a small disk; skips it if mounting is not allowed. */
export async function onSmallDisk(
  context: TestContext,
  megabytes: number,
  run: (disk: string) => Promise<void>,
): Promise<void> {
  const disk = await mountSmallDisk(megabytes);
  if (disk === undefined) return context.skip('Mounting is not allowed here.');
  try {
    await run(disk);
  } finally {
    await unmount(disk);
  }
}

async function unmount(disk: string): Promise<void> {
  await run('umount', [disk]).catch(() => run('umount', ['-l', disk]));
  await rm(disk, { recursive: true, force: true });
}

/** Fills the disk except for this many bytes. */
export async function fillDisk(disk: string, filler: string, leftBytes: number): Promise<void> {
  const { bavail, bsize } = statfsSync(disk);
  await writeFile(filler, Buffer.alloc(Math.max(0, bavail * bsize - leftBytes)));
}
