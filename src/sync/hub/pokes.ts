/** Who is told that something may have changed: devices whose sets or rights a commit touches. Only a hint, and in memory only. */
import { databaseOf, decodeDocumentKey, type Key } from '../../codec/key.ts';
import type { CommitNotice } from '../../engine/api.ts';
import { isNative } from '../../engine/definitions.ts';
import { NATIVE, type CollectionId, type DatabaseId } from '../../values/value.ts';
import type { PartRange } from '../parts.ts';
import type { DeviceId, Poke } from '../protocol.ts';
import type { AskedSet } from './asked-sets.ts';
import { ScopeFacts, type Scope } from './scope.ts';

/** What a device was found to look at when it last pulled here. */
interface Watch {
  readonly ranges: readonly PartRange[];
  readonly facts: ScopeFacts;
}

interface Listener {
  readonly database: DatabaseId;
  readonly device: DeviceId;
  /** Its credential, and the document that acts by it. */
  readonly own: readonly Key[];
  readonly onPoke: (poke: Poke) => void;
}

interface Changes {
  readonly keys: Key[];
  readonly entries: Key[];
}

const REMEMBERED_MAX = 10_000;

export class Pokes {
  private readonly listeners = new Set<Listener>();
  private readonly watches = new Map<string, Watch>();

  noteCommit(notice: CommitNotice): void {
    if (this.listeners.size === 0) return;
    const byDatabase = changesIn(notice);
    for (const listener of this.listeners) {
      const changes = byDatabase.get(listener.database);
      const watch = this.watches.get(nameOf(listener));
      if (changes && isMet(listener, watch, changes)) listener.onPoke({ head: notice.ts });
    }
  }

  notePull(device: DeviceId, pulled: PulledHere): void {
    const { database, sets, scope } = pulled;
    const name = nameOf({ database, device });
    const ranges = sets.flatMap(({ parts }) => parts.map(({ range }) => range));
    this.watches.delete(name);
    this.watches.set(name, { ranges, facts: new ScopeFacts(scope) });
    for (const oldest of this.watches.keys()) {
      if (this.watches.size <= REMEMBERED_MAX) break;
      this.watches.delete(oldest);
    }
  }

  /** Returns the way to stop. */
  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}

interface PulledHere {
  readonly database: DatabaseId;
  readonly sets: readonly AskedSet[];
  readonly scope: Scope;
}

const nameOf = ({ database, device }: Pick<Listener, 'database' | 'device'>): string =>
  `${database} ${device}`;

/** Documents by database; what only a hub keeps for itself is nothing to be told of. */
function changesIn({ rows, entries }: CommitNotice): ReadonlyMap<DatabaseId, Changes> {
  const found = new Map<DatabaseId, Changes>();
  for (const { space, key } of rows) {
    if (space !== 'documents') continue;
    const database = databaseOf(key);
    const known = found.get(database);
    if (known) known.keys.push(key);
    else found.set(database, { keys: [key], entries: [] });
  }
  for (const { space, key } of entries)
    if (space === 'documents') found.get(databaseOf(key))?.entries.push(key);
  return found;
}

/** What a device is sent of the schema, and what rights are made of. Logins of others are no reason. */
const SCHEMA: ReadonlySet<CollectionId> = new Set([
  NATIVE.collections,
  NATIVE.indexes,
  NATIVE.functions,
  NATIVE.roles,
  NATIVE.access_providers,
]);

function isMet({ own }: Listener, watch: Watch | undefined, { keys, entries }: Changes): boolean {
  const isOfUsers = (key: Key): boolean => !isNative(decodeDocumentKey(key).collection);
  if (keys.some((key) => own.includes(key) || SCHEMA.has(decodeDocumentKey(key).collection)))
    return true;
  // One that has not pulled here: any document may concern it.
  if (!watch) return keys.some(isOfUsers);
  const { ranges, facts } = watch;
  return (
    keys.some((key) => facts.isMetBy({ key, entries }) || isIn(ranges, 'key', key)) ||
    entries.some((entry) => isIn(ranges, 'entry', entry))
  );
}

const isIn = (ranges: readonly PartRange[], kind: PartRange['by'], key: Key): boolean =>
  ranges.some(({ by, lower, upper }) => by === kind && key >= lower && key < upper);
