/** Builds the worker of a future release, which stores its data differently. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { rolldown } from 'rolldown';
import { browserAlias, entries } from '../../scripts/bundle.mjs';
import { trimPackages } from '../../scripts/trim-packages.mjs';

const root = join(import.meta.dirname, '../..');

interface Edit {
  readonly file: string;
  /** Text that occurs once in the file, and is replaced by `to`. */
  readonly from: string;
  readonly to: string;
}

/** What the future release changes in the sources. */
const CHANGES = {
  /** Another format of stored rows: each row of `sync` gets a mark that the current release does not know. */
  'format of rows': [
    {
      file: 'worker/store/layouts.ts',
      from: 'PACKED_FORMAT = 1;',
      to: 'PACKED_FORMAT = 2;',
    },
    {
      file: 'worker/store/packed/idb-medium.ts',
      from: 'if (c.startsWith(birthPrefix(birth))) return;',
      to: `if (c.startsWith(birthPrefix(birth))) return;
    if (c.startsWith(birthPrefix({ ...birth, format: 1 }))) return;`,
    },
    {
      file: 'worker/store/packed/packed-database.ts',
      from: '    const head = await this.readHead();\n    this.isNew',
      // A log record comes first, which open tabs of the older release notice; then the stamps, for tabs that open the database later.
      to: `    if (stamp.format === 1) {
      const all = { space: 'sync', by: 'key', lower: '', upper: '\\xff', reverse: false, limit: Infinity, rows: true };
      const lift = async (tx) => {
        const { ranges } = await tx.fetch([], [all]);
        const puts = ranges[0].map(({ row }) => {
          const value = JSON.stringify({ ...JSON.parse(row.value), markOfNewer: true });
          return { space: 'sync', row: { ...row, value } };
        });
        tx.apply({ puts, deletes: [] });
      };
      await this.packed.write(lift, { spaces: ['sync'], durability: 'strict' });
      await this.connection.change({ ...STRICT, stores: stores.map(({ name }) => name) }, async (tx) => {
        for (const { name } of stores)
          tx.putRaw(name, { ...(await tx.raw(name, STAMP_KEY)), format: PACKED_FORMAT });
      });
    }
    const head = await this.readHead();
    this.isNew`,
    },
  ],
  /** IndexedDB has a higher version and one more object store. */
  'layout of IndexedDB': [
    {
      file: 'worker/store/layouts.ts',
      from: '  version: 3,\n  schema: {',
      to: "  version: 4,\n  schema: {\n    more: 'k',",
    },
  ],
} as const satisfies Readonly<Record<string, readonly Edit[]>>;

export type Change = keyof typeof CHANGES;
export const changes = Object.keys(CHANGES) as Change[];

/** Puts the worker beside the app. @returns its path */
export async function serveNewerWorker(change: Change): Promise<string> {
  const folder = process.env['BURROW_E2E_PACKAGE'];
  if (folder === undefined)
    throw new Error('The app is not served: e2e/support/serve-app.ts did not run.');
  const name = `newer-${change.replaceAll(' ', '-')}.js`;
  await writeFile(join(folder, 'built', name), await build(change));
  return `/${name}`;
}

/** From its next load on, the page uses the worker of the future release. */
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
  const edited = new Map<string, string>();
  for (const { file, from, to } of CHANGES[change]) {
    const path = join(root, file);
    const source = await readFile(path, 'utf8');
    if (source.split(from).length !== 2) throw new Error(`${file} does not say once: ${from}`);
    edited.set(path, source.replace(from, to));
  }
  const bundle = await rolldown({
    input: entries.worker,
    platform: 'browser',
    resolve: { alias: browserAlias },
    transform: { target: 'es2022' },
    plugins: [trimPackages(), { name: 'newer', load: (id) => edited.get(id) ?? null }],
  });
  try {
    const { output } = await bundle.generate({ format: 'es', codeSplitting: false });
    return output[0].code;
  } finally {
    await bundle.close();
  }
}
