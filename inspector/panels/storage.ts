/** What is stored, how much there may be, how long it is kept; and the lock. */
import { listDatabases, type Database } from '../../src/index.ts';
import { problemOf, type Context, type Panel } from '../context.ts';
import { button, facts, fill, h } from '../dom.ts';
import { counted, formatBytes } from '../format.ts';

const PERSISTENCE: Readonly<Record<Database['persistence'], string>> = {
  persistent: 'until the user deletes it',
  'best-effort': 'until the browser needs the space, or the site was not used for long',
  session: 'until the private window is closed',
  unknown: 'unknown: the browser does not tell',
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
    const [estimate, isPersisted, databases] = await Promise.all([
      orUndefined(() => navigator.storage.estimate()),
      orUndefined(() => navigator.storage.persisted()),
      orUndefined(() => listDatabases(db.name)),
    ]);
    const { usage, quota } = estimate ?? {};
    fill(
      stored,
      facts([
        ['Database', db.name],
        ['Used by this origin', usage === undefined ? 'unknown' : formatBytes(usage)],
        [
          'Quota',
          quota === undefined
            ? 'unknown'
            : `${formatBytes(quota)}${usage === undefined ? '' : `, ${((usage / quota) * 100).toFixed(1)} % used`}`,
        ],
        ['Kept', PERSISTENCE[isPersisted === true ? 'persistent' : db.persistence]],
        ['Lost data', db.loss ? `yes: ${db.loss.kind}` : 'none was found'],
        [
          'Databases of this name',
          databases ? counted(databases.length, 'identity', 'identities') : 'unknown',
        ],
      ]),
    );
    fill(
      lock,
      facts([
        [
          'Lock',
          db.isLocked
            ? 'locked: its user has signed out; every call fails until db.unlock()'
            : 'open: db.signOut() locks it, in all tabs',
        ],
      ]),
    );
  };
  const node = h(
    'div',
    {},
    h('h3', {}, 'Storage'),
    stored,
    button('Check all that is stored', verify),
    result,
    h('h3', {}, 'The lock'),
    lock,
  );
  return { id: 'storage', label: 'Storage', node, show };
}

/** What this browser does not have, or does not tell. */
async function orUndefined<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}
