/** Panel with the size of the stored data, the quota, how long the data is kept, and the lock. */
import { listDatabases, type Database } from '../../src/index.ts';
import { problemOf, type Context, type Panel } from '../context.ts';
import { button, facts, fill, h } from '../dom.ts';
import { counted, formatBytes } from '../format.ts';

const PERSISTENCE: Readonly<Record<Database['persistence'], string>> = {
  persistent: 'until the user deletes it',
  'best-effort': 'until the browser needs the space, or the site has not been used for a long time',
  session: 'until the private window is closed',
  unknown: 'unknown: the browser does not say',
  none: 'not at all',
};

export function storagePanel(context: Context): Panel {
  const { db } = context;
  const stored = h('div', {});
  const lock = h('div', {});
  const result = h('div', { role: 'status', 'aria-label': 'Check' });
  const verify = async (): Promise<void> => {
    fill(result, 'Checking…');
    try {
      const wrong = await db.verify();
      fill(
        result,
        wrong.length === 0
          ? h('p', {}, 'Everything that is stored is consistent.')
          : h('ul', { class: 'problem' }, ...wrong.map((each) => h('li', {}, each))),
      );
    } catch (error) {
      fill(result, h('p', { class: 'problem' }, problemOf(error)));
    }
  };
  const show = async (): Promise<void> => {
    fill(stored, await storedFacts(db));
    fill(lock, lockFacts(db));
  };
  const node = h(
    'div',
    {},
    h('h3', {}, 'Storage'),
    stored,
    button('Verify the database', verify),
    result,
    h('h3', {}, 'The lock'),
    lock,
  );
  return { id: 'storage', label: 'Storage', node, show };
}

async function storedFacts(db: Database): Promise<HTMLElement> {
  const [estimate, isPersisted, databases] = await Promise.all([
    orUndefined(() => navigator.storage.estimate()),
    orUndefined(() => navigator.storage.persisted()),
    orUndefined(() => listDatabases(db.name)),
  ]);
  const { usage, quota } = estimate ?? {};
  return facts([
    ['Database', db.name],
    ['Used by this origin', usage === undefined ? 'unknown' : formatBytes(usage)],
    ['Quota', quotaText(usage, quota)],
    ['Kept', PERSISTENCE[isPersisted === true ? 'persistent' : db.persistence]],
    ['Lost data', db.loss ? `yes: ${db.loss.kind}` : 'none was found'],
    [
      'Databases of this name',
      databases ? counted(databases.length, 'identity', 'identities') : 'unknown',
    ],
  ]);
}

function quotaText(usage: number | undefined, quota: number | undefined): string {
  if (quota === undefined) return 'unknown';
  if (usage === undefined) return formatBytes(quota);
  return `${formatBytes(quota)}, ${((usage / quota) * 100).toFixed(1)} % used`;
}

const lockFacts = (db: Database): HTMLElement =>
  facts([
    [
      'Lock',
      db.isLocked
        ? 'locked: its user has signed out; every call fails until db.unlock()'
        : 'open: db.signOut() locks it, in all tabs',
    ],
  ]);

/** Undefined if the browser lacks the function, or it rejects. */
async function orUndefined<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}
