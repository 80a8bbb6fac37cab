/** Decides which listening devices get a hint: those whose sets or rights a commit may concern. In memory; hints may be lost. */
import { databaseOf, decodeDocumentKey, type Key } from '../../../codec/key.ts';
import { isInRange } from '../../../codec/ranges.ts';
import type { CommitNotice } from '../../../engine/host.ts';
import { isNative } from '../../../values/native-kinds.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import type { ChangeHint } from '../../protocol/hints.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { Pull, Pulled } from '../../protocol/messages.ts';
import { isLast, nextPull } from '../../protocol/next-pull.ts';
import type { PartRange } from '../../protocol/set-parts.ts';
import type { PullOutcome } from '../pull/pull.ts';
import { RIGHTS_COLLECTIONS } from '../rights/rights-collections.ts';
import { ScopeMatcher, scopeAddress } from '../rights/scope.ts';
import { deviceAddress } from '../rows/device-rows.ts';
import { BoundedMemory } from './bounded-memory.ts';

/** What a device read at its last pull here. */
interface Watch {
  /** The same array for devices that read the same. */
  readonly ranges: readonly PartRange[];
  readonly scope: ScopeMatcher;
}

export interface DeviceName {
  readonly database: DatabaseId;
  readonly device: DeviceId;
}

interface Listener extends DeviceName {
  /** Keys of its credential, and of the document that it acts as. */
  readonly own: readonly Key[];
  readonly onHint: (hint: ChangeHint) => void;
}

/** What hints need to know of a pull: what was read, and how the device will ask next. */
export type PullRead = Pick<PullOutcome, 'database' | 'sets' | 'scope' | 'sharedRights'> & {
  readonly pulled: Omit<Pulled, 'puts' | 'leaves' | 'verdicts'>;
};

/** What a device was answered last, and how it will ask next. */
export interface Standing {
  readonly next: Pull;
  readonly pulled: Pick<Pulled, 'actor' | 'lastSeq'>;
  /** That it pulled with. */
  readonly secret: string;
  /** Undefined: only a pull of its own shows what it may read. */
  readonly sharedRights: PullOutcome['sharedRights'];
  /** The same number: equal sets, schema, and shared rights. */
  readonly kind: number;
}

/** What devices of one kind have in common. */
interface Kind {
  readonly number: number;
  readonly sets: Pull['sets'];
}

/** A device that listens. */
interface ListeningDevice {
  readonly listeners: Set<Listener>;
  /** Of its record. */
  readonly key: Key;
  /** Of what its rights were found to depend on. */
  readonly scopeKey: Key;
  /** It pushes, and pulls by itself after that. */
  isPushing: boolean;
  /** A hint that was not sent because of that. */
  heldBack: ChangeHint | undefined;
}

/** Of one commit in one database. What is the same for all devices is found once: a hub has thousands. */
interface Changes {
  readonly keys: Key[];
  readonly entries: Key[];
  /** Of the schema: it may concern the rights of every device. */
  isOfSchema: boolean;
  /** Of a collection of the app. */
  isOfDocuments: boolean;
  /** Whether any is in the sets of a device, by the ranges of these. */
  readonly inRanges: Map<Watch['ranges'], boolean>;
}

/** What does not fit into its memory is told of any change, and pulls. */
export class ChangeHints {
  private readonly devices = new Map<string, ListeningDevice>();
  private readonly watches = new BoundedMemory<Watch>();
  /** Of devices that listen. */
  private readonly standings = new BoundedMemory<Standing>();
  private readonly rangesByText = new BoundedMemory<Watch['ranges']>();
  private readonly kinds = new BoundedMemory<Kind>();
  private lastKind = 0;
  /** Every commit after `knownFrom` was looked at here, up to `head`. */
  private knownFrom: Micros = Infinity;
  private head: Micros = -1;

  onCommit(notice: CommitNotice): void {
    const { previous, ts, rows } = notice;
    if (previous !== this.head) this.knownFrom = previous;
    this.head = ts;
    if (this.devices.size === 0) return;
    // Too many for another process to tell what they changed.
    const isUnknown = previous === ts;
    const byDatabase = changesIn(notice);
    const records = new Set(rows.flatMap(({ space, key }) => (space === 'sync' ? [key] : [])));
    const hint: ChangeHint = { head: ts };
    for (const [name, device] of this.devices) {
      if (records.has(device.key)) this.forgetRights(name);
      // A pull has new sets, or has found more that they depend on: one at another process is not seen here.
      if (records.has(device.scopeKey)) this.forgetReads(name);
      const watch = this.watches.get(name);
      const concern = isUnknown ? 'rights' : concernOf(device, byDatabase, watch);
      if (!concern) continue;
      if (concern === 'rights') {
        this.forgetRights(name);
        // Its sets may be of other parts from now on, as a pull at another process finds.
        this.watches.delete(name);
      }
      if (device.isPushing) device.heldBack = hint;
      else notify(device, hint);
    }
  }

  /** Until its next pull it needs no hints. */
  onPush(device: DeviceName): void {
    const listening = this.devices.get(nameOf(device));
    if (listening) listening.isPushing = true;
  }

  /** Its push was answered: it pulls next, and that shows what was held back. Unless it pulls here, as far as is known, no pull would end the wait. */
  onPushed(device: DeviceName): void {
    const listening = this.devices.get(nameOf(device));
    if (!listening || this.standing(device)) return;
    if (listening.listeners.size === 1) listening.heldBack = undefined;
    release(listening);
  }

  /** A pull that is still awaited here has gone to another process. */
  onBeat(device: DeviceName): void {
    const listening = this.devices.get(nameOf(device));
    if (listening) release(listening);
  }

  /**
   * @param secret that the device pulled with
   * @returns undefined when it does not listen, or pulls again before it needs a hint
   */
  onPull(message: Pull, outcome: PullRead, secret: string): Standing | undefined {
    const { database, sets, scope, pulled } = outcome;
    const name = nameOf({ database, device: message.device });
    const ranges = sets.flatMap(({ parts }) => parts.map(({ range }) => range));
    const text = JSON.stringify(ranges);
    const watch = { ranges: this.sameRanges(ranges, text), scope: new ScopeMatcher(scope) };
    this.watches.set(name, watch, text.length + JSON.stringify(scope).length);
    const listening = this.devices.get(name);
    if (!listening) return undefined;
    this.standAfter(name, message, outcome, secret);
    // What this pull brings, only one of several streams has.
    const { heldBack, listeners } = listening;
    if (heldBack && heldBack.head <= pulled.cursor && listeners.size === 1)
      listening.heldBack = undefined;
    release(listening);
    return this.standings.get(name);
  }

  /** The device was sent an answer that was made for all that read the same. */
  onSharedPull(device: DeviceName, standing: Standing): void {
    this.standings.replace(nameOf(device), standing);
  }

  standing(device: DeviceName): Standing | undefined {
    return this.standings.get(nameOf(device));
  }

  /** What is brought over one of several streams, the others do not have. */
  hasOneStream(device: DeviceName): boolean {
    return this.devices.get(nameOf(device))?.listeners.size === 1;
  }

  /** Whether no commit between the two was overlooked. */
  hasSeenAll(since: Micros, until: Micros): boolean {
    return since >= this.knownFrom && until <= this.head;
  }

  /** Returns a function that stops it. */
  listen(listener: Listener): () => void {
    const { database, device } = listener;
    const name = nameOf(listener);
    const listeners = this.devices.get(name)?.listeners ?? new Set();
    listeners.add(listener);
    const { key } = deviceAddress(database, device);
    const { key: scopeKey } = scopeAddress(database, device);
    this.devices.set(name, { listeners, key, scopeKey, isPushing: false, heldBack: undefined });
    // It may have pulled other sets at another process since.
    this.forgetReads(name);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.devices.get(name)?.listeners !== listeners) return;
      this.devices.delete(name);
      this.standings.delete(name);
    };
  }

  private standAfter(
    name: string,
    message: Pull,
    { pulled, sharedRights }: PullRead,
    secret: string,
  ): void {
    this.standings.delete(name);
    const next = pullOnHint(message, pulled);
    if (!next) return;
    const { epoch, schema } = next;
    const text = JSON.stringify([sharedRights?.name, epoch, schema, next.sets]);
    const known = this.kinds.get(text);
    const { number, sets } = known ?? { number: (this.lastKind += 1), sets: next.sets };
    if (!known) this.kinds.set(text, { number, sets }, text.length);
    const { actor, lastSeq } = pulled;
    this.standings.set(
      name,
      { next: { ...next, sets }, pulled: { actor, lastSeq }, secret, sharedRights, kind: number },
      text.length,
    );
  }

  private sameRanges(ranges: Watch['ranges'], text: string): Watch['ranges'] {
    const known = this.rangesByText.get(text);
    if (!known) this.rangesByText.set(text, ranges, text.length);
    return known ?? ranges;
  }

  private forgetReads(name: string): void {
    this.watches.delete(name);
    this.standings.delete(name);
  }

  private forgetRights(name: string): void {
    const standing = this.standings.get(name);
    if (standing) this.standings.replace(name, { ...standing, sharedRights: undefined });
  }
}

/** Undefined: the device asks again by itself, before a hint would. */
const pullOnHint = (message: Pull, pulled: PullRead['pulled']): Pull | undefined =>
  !isLast(pulled) || pulled.check || message.refetch.length > 0
    ? undefined
    : nextPull(message, pulled);

function release(device: ListeningDevice): void {
  const { heldBack } = device;
  device.isPushing = false;
  device.heldBack = undefined;
  if (heldBack) notify(device, heldBack);
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
    const changes = found.get(database) ?? noChanges();
    found.set(database, changes);
    changes.keys.push(key);
    const { collection } = decodeDocumentKey(key);
    // Logins of other users concern nobody.
    changes.isOfSchema ||= RIGHTS_COLLECTIONS.has(collection);
    changes.isOfDocuments ||= !isNative(collection);
  }
  for (const { space, key } of entries)
    if (space === 'documents') found.get(databaseOf(key))?.entries.push(key);
  return found;
}

const noChanges = (): Changes => ({
  keys: [],
  entries: [],
  isOfSchema: false,
  isOfDocuments: false,
  inRanges: new Map(),
});

/** What of a device a commit may concern: its rights, or only documents of its sets. */
function concernOf(
  { listeners }: ListeningDevice,
  byDatabase: ReadonlyMap<DatabaseId, Changes>,
  watch: Watch | undefined,
): 'rights' | 'documents' | undefined {
  let found: 'documents' | undefined;
  for (const { database, own } of listeners) {
    const changes = byDatabase.get(database);
    if (!changes) continue;
    if (concernsRights(changes, own, watch)) return 'rights';
    if (watch && isInSets(changes, watch)) found = 'documents';
  }
  return found;
}

function concernsRights(changes: Changes, own: readonly Key[], watch: Watch | undefined): boolean {
  if (changes.isOfSchema) return true;
  // A device that has not pulled here: any document may concern it.
  if (!watch && changes.isOfDocuments) return true;
  const { keys, entries } = changes;
  return keys.some((key) => own.includes(key) || watch?.scope.matches({ key, entries }));
}

function isInSets({ keys, entries, inRanges }: Changes, { ranges }: Watch): boolean {
  const known = inRanges.get(ranges);
  if (known !== undefined) return known;
  const isIn =
    keys.some((key) => isInAny(ranges, 'key', key)) ||
    entries.some((entry) => isInAny(ranges, 'entry', entry));
  inRanges.set(ranges, isIn);
  return isIn;
}

const isInAny = (ranges: readonly PartRange[], by: PartRange['by'], key: Key): boolean =>
  ranges.some((range) => range.by === by && isInRange(key, range));
