/** Builds and packs the package once, as npm would publish it, for all examples. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run } from './run.ts';

/** The tarball's path goes to the tests by the environment. One that is there already is taken as it is. */
export default async function pack(): Promise<() => Promise<void>> {
  if (process.env['BURROW_TARBALL'] !== undefined) return async () => undefined;
  const folder = await mkdtemp(join(tmpdir(), 'burrow-packed-'));
  await run('npm', ['run', 'build'], { cwd: root });
  const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root });
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  process.env['BURROW_TARBALL'] = join(folder, filename);
  return () => rm(folder, { recursive: true });
}
