/** Who is told that something may have changed: devices whose sets or rights a commit touches. Only a hint, and in memory only. */
import { databaseOf, decodeDocumentKey, type Key } from '../../../codec/key.ts';
import type { CommitNotice } from '../../../engine/api.ts';
import { isNative } from '../../../engine/definitions.ts';
import { NATIVE, type CollectionId, type DatabaseId } from '../../../values/value.ts';
import type { PartRange } from '../../protocol/set-parts.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { ChangeHint } from '../../protocol/hints.ts';
import type { Pull, Pulled } from '../../protocol/messages.ts';
import type { AskedSet } from '../sets/requested-sets.ts';
import { ScopeFacts, type Scope } from '../rights/scope.ts';
import { isInRange } from '../../../codec/ranges.ts';

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
  readonly onPoke: (poke: ChangeHint) => void;
}

/** What is known of a device that listens. */
interface Standing {
  readonly listeners: Set<Listener>;
  /** It pushes, and pulls after that by itself. */
  isPushing: boolean;
  /** What it was not told of therefore. */
  heldBack: ChangeHint | undefined;
  next: Pull | undefined;
}

interface Changes {
  readonly keys: Key[];
  readonly entries: Key[];
}

const REMEMBERED_MAX = 10_000;

export class Pokes {
  private readonly standings = new Map<string, Standing>();
  private readonly watches = new Map<string, Watch>();

  noteCommit(notice: CommitNotice): void {
    if (this.standings.size === 0) return;
    const byDatabase = changesIn(notice);
    const poke: ChangeHint = { head: notice.ts };
    for (const [name, standing] of this.standings) {
      const watch = this.watches.get(name);
      const isAnyMet = [...standing.listeners].some((listener) => {
        const changes = byDatabase.get(listener.database);
        return changes && isMet(listener, watch, changes);
      });
      if (!isAnyMet) continue;
      if (standing.isPushing) standing.heldBack = poke;
      else tell(standing, poke);
    }
  }

  /** From now until it pulls it need not be told: it looks by itself. */
  notePush(whose: Pick<Listener, 'database' | 'device'>): void {
    const standing = this.standings.get(nameOf(whose));
    if (standing) standing.isPushing = true;
  }

  /** @param next as it will ask after that, where that can be told */
  notePull(device: DeviceId, pulled: PulledHere, next: Pull | undefined): void {
    const { database, sets, scope } = pulled;
    const name = nameOf({ database, device });
    const ranges = sets.flatMap(({ parts }) => parts.map(({ range }) => range));
    this.watches.delete(name);
    this.watches.set(name, { ranges, facts: new ScopeFacts(scope) });
    for (const oldest of this.watches.keys()) {
      if (this.watches.size <= REMEMBERED_MAX) break;
      this.watches.delete(oldest);
    }
    const standing = this.standings.get(name);
    if (!standing) return;
    const { heldBack } = standing;
    Object.assign(standing, { isPushing: false, heldBack: undefined, next });
    if (heldBack && heldBack.head > pulled.pulled.cursor) tell(standing, heldBack);
  }

  nextPull(whose: Pick<Listener, 'database' | 'device'>): Pull | undefined {
    return this.standings.get(nameOf(whose))?.next;
  }

  /** Returns the way to stop. */
  listen(listener: Listener): () => void {
    const name = nameOf(listener);
    const { listeners } = this.standings.get(name) ?? { listeners: new Set() };
    listeners.add(listener);
    this.standings.set(name, { listeners, isPushing: false, heldBack: undefined, next: undefined });
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.standings.get(name)?.listeners === listeners)
        this.standings.delete(name);
    };
  }
}

function tell({ listeners }: Standing, poke: ChangeHint): void {
  for (const { onPoke } of listeners) onPoke(poke);
}

interface PulledHere {
  readonly pulled: Pick<Pulled, 'cursor'>;
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
  ranges.some((range) => range.by === kind && isInRange(key, range));
