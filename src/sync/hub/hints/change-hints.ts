/** Decides which listening devices get a hint: those whose sets or rights a commit may concern. In memory; hints may be lost. */
import { databaseOf, decodeDocumentKey, type Key } from '../../../codec/key.ts';
import { isInRange } from '../../../codec/ranges.ts';
import type { CommitNotice } from '../../../engine/host.ts';
import { isNative } from '../../../values/native-kinds.ts';
import type { DatabaseId } from '../../../values/value.ts';
import type { ChangeHint } from '../../protocol/hints.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { Pull, Pulled } from '../../protocol/messages.ts';
import type { PartRange } from '../../protocol/set-parts.ts';
import { RIGHTS_COLLECTIONS } from '../rights/rights-collections.ts';
import { ScopeMatcher, type Scope } from '../rights/scope.ts';
import type { ResolvedRequest } from '../sets/requested-sets.ts';

/** What a device read at its last pull here. */
interface Watch {
  readonly ranges: readonly PartRange[];
  readonly scope: ScopeMatcher;
}

interface DeviceName {
  readonly database: DatabaseId;
  readonly device: DeviceId;
}

interface Listener extends DeviceName {
  /** Keys of its credential, and of the document that it acts as. */
  readonly own: readonly Key[];
  readonly onHint: (hint: ChangeHint) => void;
}

/** A device that listens. */
interface ListeningDevice {
  readonly listeners: Set<Listener>;
  /** It pushes, and pulls by itself after that. */
  isPushing: boolean;
  /** A hint that was not sent because of that. */
  heldBack: ChangeHint | undefined;
  /** How it will ask next, where that is known. */
  nextPull: Pull | undefined;
}

interface AnsweredPull {
  readonly pulled: Pick<Pulled, 'cursor'>;
  readonly database: DatabaseId;
  readonly sets: readonly ResolvedRequest[];
  readonly scope: Scope;
}

interface Changes {
  readonly keys: Key[];
  readonly entries: Key[];
}

const REMEMBERED_MAX = 10_000;

export class ChangeHints {
  private readonly devices = new Map<string, ListeningDevice>();
  private readonly watches = new Map<string, Watch>();

  noteCommit(notice: CommitNotice): void {
    if (this.devices.size === 0) return;
    const byDatabase = changesIn(notice);
    const hint: ChangeHint = { head: notice.ts };
    for (const [name, device] of this.devices) {
      const watch = this.watches.get(name);
      const isConcerned = [...device.listeners].some((listener) => {
        const changes = byDatabase.get(listener.database);
        return changes && concerns(changes, listener, watch);
      });
      if (!isConcerned) continue;
      if (device.isPushing) device.heldBack = hint;
      else notify(device, hint);
    }
  }

  /** Until its next pull it needs no hints. */
  notePush(device: DeviceName): void {
    const listening = this.devices.get(nameOf(device));
    if (listening) listening.isPushing = true;
  }

  /** @param next how it will ask after that, where that is known */
  notePull(device: DeviceId, answer: AnsweredPull, next: Pull | undefined): void {
    const { database, sets, scope, pulled } = answer;
    const name = nameOf({ database, device });
    const ranges = sets.flatMap(({ parts }) => parts.map(({ range }) => range));
    this.watch(name, { ranges, scope: new ScopeMatcher(scope) });
    const listening = this.devices.get(name);
    if (!listening) return;
    const { heldBack } = listening;
    Object.assign(listening, { isPushing: false, heldBack: undefined, nextPull: next });
    if (heldBack && heldBack.head > pulled.cursor) notify(listening, heldBack);
  }

  nextPull(device: DeviceName): Pull | undefined {
    return this.devices.get(nameOf(device))?.nextPull;
  }

  /** Returns a function that stops it. */
  listen(listener: Listener): () => void {
    const name = nameOf(listener);
    const listeners = this.devices.get(name)?.listeners ?? new Set();
    listeners.add(listener);
    const fresh = { isPushing: false, heldBack: undefined, nextPull: undefined };
    this.devices.set(name, { listeners, ...fresh });
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.devices.get(name)?.listeners === listeners)
        this.devices.delete(name);
    };
  }

  private watch(name: string, watch: Watch): void {
    this.watches.delete(name);
    this.watches.set(name, watch);
    for (const oldest of this.watches.keys()) {
      if (this.watches.size <= REMEMBERED_MAX) break;
      this.watches.delete(oldest);
    }
  }
}

function notify({ listeners }: ListeningDevice, hint: ChangeHint): void {
  for (const { onHint } of listeners) onHint(hint);
}

const nameOf = ({ database, device }: DeviceName): string => `${database} ${device}`;

/** Documents by database; other spaces are the hub's own. */
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

function concerns(
  { keys, entries }: Changes,
  { own }: Listener,
  watch: Watch | undefined,
): boolean {
  const isUserDocument = (key: Key): boolean => !isNative(decodeDocumentKey(key).collection);
  // Logins of other users concern nobody.
  const affectsRights = (key: Key): boolean =>
    own.includes(key) || RIGHTS_COLLECTIONS.has(decodeDocumentKey(key).collection);
  if (keys.some(affectsRights)) return true;
  // A device that has not pulled here: any document may concern it.
  if (!watch) return keys.some(isUserDocument);
  const { ranges, scope } = watch;
  return (
    keys.some((key) => scope.matches({ key, entries }) || isIn(ranges, 'key', key)) ||
    entries.some((entry) => isIn(ranges, 'entry', entry))
  );
}

const isIn = (ranges: readonly PartRange[], by: PartRange['by'], key: Key): boolean =>
  ranges.some((range) => range.by === by && isInRange(key, range));
