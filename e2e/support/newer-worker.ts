/** The worker of a release that is still to come: it stores its data in another way. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { rolldown } from 'rolldown';
import { browserAlias, entries } from '../../scripts/bundle.mjs';
import { trimPackages } from '../../scripts/trim-packages.mjs';

const root = join(import.meta.dirname, '../..');

/** What such a release changes in the sources: in each the first text becomes the second, and it imports more. */
const CHANGES = {
  /** Rows are of another format: each row of `sync` gets a mark that this release does not know. */
  'format of rows': {
    file: 'worker/store/open-store.ts',
    from: '    options: { head,',
    to: `    options: { head, migrations: migrationsOf([
      async (tx) => {
        const all = { space: 'sync', by: 'key', lower: '', upper: '\\xff', reverse: false, limit: Infinity, rows: true };
        const { ranges } = await tx.fetch([], [all]);
        const puts = ranges[0].map(({ row }) => {
          const value = JSON.stringify({ ...JSON.parse(row.value), markOfNewer: true });
          return { space: 'sync', row: { ...row, value } };
        });
        tx.apply({ puts, deletes: [] });
      },
    ]),`,
    imports: "import { migrationsOf } from './migrations.ts';\n",
  },
  /** IndexedDB has another version, and one more place for rows. */
  'layout of IndexedDB': {
    file: 'worker/store/layouts.ts',
    from: '  version: 2,\n  schema: {',
    to: "  version: 4,\n  schema: {\n    more: 'k',",
    imports: '',
  },
} as const;

export type Change = keyof typeof CHANGES;
export const changes = Object.keys(CHANGES) as Change[];

/** Puts it beside the app. @returns its address there */
export async function serveNewerWorker(change: Change): Promise<string> {
  const folder = process.env['BURROW_E2E_PACKAGE'];
  if (folder === undefined)
    throw new Error('The app is not served: e2e/support/serve-app.ts did not run.');
  const name = `newer-${change.replaceAll(' ', '-')}.js`;
  await writeFile(join(folder, 'built', name), await build(change));
  return `/${name}`;
}

/** From its next load on the app of this page is of the newer release. */
export async function update(page: Page, worker: string): Promise<void> {
  await page.addInitScript((worker) => {
    const Native = globalThis.Worker;
    globalThis.Worker = class extends Native {
      constructor(_: string | URL, options?: WorkerOptions) {
        super(worker, options);
      }
    };
  }, worker);
}

async function build(change: Change): Promise<string> {
  const { file, from, to, imports } = CHANGES[change];
  const path = join(root, file);
  const source = await readFile(path, 'utf8');
  if (source.split(from).length !== 2) throw new Error(`${file} does not say once: ${from}`);
  const bundle = await rolldown({
    input: entries.worker,
    platform: 'browser',
    resolve: { alias: browserAlias },
    transform: { target: 'es2022' },
    plugins: [
      trimPackages(),
      { name: 'newer', load: (id) => (id === path ? imports + source.replace(from, to) : null) },
    ],
  });
  try {
    const { output } = await bundle.generate({ format: 'es', codeSplitting: false });
    return output[0].code;
  } finally {
    await bundle.close();
  }
}
