/** Files of a folder that only their owner can read, written completely or not at all. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../../hosts/node-errors.ts';

/** Writes a temporary file and renames it: no reader sees a partial file, and an existing file with other permissions is replaced. */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const beside = `${path}.${randomUUID()}.new`;
  try {
    await writeFile(beside, content, { mode: 0o600, flush: true });
    await rename(beside, path);
  } finally {
    await rm(beside, { force: true });
  }
}

export async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (reason) {
    if (codeOf(reason) === 'ENOENT') return undefined;
    throw reason;
  }
}
