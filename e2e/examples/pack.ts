/** Builds and packs the package once for all examples, as npm would publish it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run } from './run.ts';

/** Passes the path of the tarball to the tests in `BURROW_TARBALL`. If that is already set, nothing is built. */
export default async function pack(): Promise<() => Promise<void>> {
  if (process.env['BURROW_TARBALL'] !== undefined) return async () => undefined;
  const folder = await mkdtemp(join(tmpdir(), 'burrow-packed-'));
  await run('npm', ['run', 'build'], { cwd: root });
  const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root });
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  process.env['BURROW_TARBALL'] = join(folder, filename);
  return () => rm(folder, { recursive: true });
}
