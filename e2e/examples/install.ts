import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { root, run } from './run.ts';

/** The registry could not be reached, which is not a fault of the example. */
export class NoRegistry extends Error {}

/** Build results, which are not copied. */
const MADE = new Set(['node_modules', 'dist', '.next', '.parcel-cache', '.svelte-kit', 'build']);

/**
 * Copies the example to its own folder and installs its packages, with the packed package in place of the published one.
 * @throws NoRegistry
 */
export async function install(name: string): Promise<string> {
  const tarball = process.env['BURROW_TARBALL'];
  if (tarball === undefined) throw new Error('BURROW_TARBALL is not set: pack.ts does it.');
  const folder = await mkdtemp(join(tmpdir(), `burrow-example-${name}-`));
  await cp(join(root, 'examples', name), folder, {
    recursive: true,
    filter: (path) => !MADE.has(basename(path)),
  });
  const path = join(folder, 'package.json');
  const manifest = JSON.parse(await readFile(path, 'utf8')) as {
    dependencies: Record<string, string>;
  };
  manifest.dependencies['burrowdb'] = `file:${tarball}`;
  await writeFile(path, JSON.stringify(manifest));
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
  try {
    await run('npm', ['install', ...quiet], { cwd: folder });
  } catch (error) {
    await rm(folder, { recursive: true });
    const isReached = await run('npm', ['ping'], { cwd: root }).then(
      () => true,
      () => false,
    );
    throw isReached ? error : new NoRegistry('npm cannot reach its registry', { cause: error });
  }
  return folder;
}
