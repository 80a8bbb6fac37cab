/** Describes the differences between a schema and a database. */
import type { Kind } from './objects.ts';
import { nextName, type State } from './state.ts';
import { differing, STRUCTURE } from './normal-form.ts';

export interface SchemaChange {
  readonly kind: 'collection' | 'index' | 'function' | 'role';
  readonly name: string;
  /** `rebuild`: a new index is built beside the one in use. */
  readonly action: 'create' | 'change' | 'rebuild' | 'remove';
  /** The data that would be lost. */
  readonly loss?: string;
  /** The change in words. */
  readonly text: string;
}

const KINDS = {
  collections: 'collection',
  indexes: 'index',
  functions: 'function',
  roles: 'role',
} as const satisfies Record<Kind, SchemaChange['kind']>;

/** Lists all changes, ordered by kind. */
export function planOf(state: State): readonly SchemaChange[] {
  const plan: SchemaChange[] = [];
  for (const kind of ['collections', 'indexes', 'functions', 'roles'] as const) {
    const word = KINDS[kind];
    for (const [name, wanted] of state.wanted[kind]) {
      const stored = state.stored[kind].get(name);
      const change = { kind: word, name };
      if (!stored) {
        plan.push({ ...change, action: 'create', text: `create ${word} ${name}` });
        continue;
      }
      const members = differing(kind, wanted, stored);
      if (members.length === 0) continue;
      const rebuilds = kind === 'indexes' && members.some((member) => STRUCTURE.includes(member));
      const action = rebuilds ? 'rebuild' : 'change';
      const loss = kind === 'collections' ? shorterLife(wanted, stored) : undefined;
      const text = `${action} ${word} ${name}: ${members.join(', ')}`;
      plan.push({ ...change, action, ...withLoss(text, loss) });
    }
    for (const name of state.removed[kind]) {
      const loss = kind === 'collections' && state.filled.has(name) ? 'its documents' : undefined;
      plan.push({
        kind: word,
        name,
        action: 'remove',
        ...withLoss(`remove ${word} ${name}`, loss),
      });
    }
  }
  return plan;
}

const withLoss = (text: string, loss: string | undefined): Pick<SchemaChange, 'text' | 'loss'> =>
  loss === undefined ? { text } : { text: `${text}; this loses ${loss}`, loss };

type Life = Readonly<Record<string, unknown>>;

function shorterLife(wanted: Life, stored: Life): string | undefined {
  if (days(wanted['ttl_days']) < days(stored['ttl_days']))
    return `documents older than ${String(wanted['ttl_days'])} days`;
  if (days(wanted['history_days']) < days(stored['history_days']))
    return `versions older than ${String(wanted['history_days'])} days`;
  return undefined;
}

/** Null or undefined means for ever. */
const days = (value: unknown): number => (typeof value === 'number' ? value : Infinity);

/** Names of the indexes that must be rebuilt beside those in use. */
export const rebuiltIndexes = (state: State): ReadonlySet<string> =>
  new Set(
    planOf(state)
      .filter(({ action }) => action === 'rebuild')
      .map(({ name }) => name),
  );

/** Whether the index beside the one in use is the wanted one. */
export function isBuiltBeside(state: State, name: string): boolean {
  const beside = state.stored.indexes.get(nextName(name));
  const wanted = state.wanted.indexes.get(name);
  return (
    beside !== undefined &&
    wanted !== undefined &&
    differing('indexes', wanted, beside).length === 0
  );
}
