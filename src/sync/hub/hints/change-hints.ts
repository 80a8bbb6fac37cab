/** Decides which listening devices get a hint: those whose sets or rights a commit may affect. In memory; hints may be lost. */
import type { Key } from '../../../codec/key.ts';
import type { CommitNotice } from '../../../engine/host.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import type { ChangeHint } from '../../protocol/hints.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { Pull, Pulled } from '../../protocol/messages.ts';
import { isLast, nextPull } from '../../protocol/next-pull.ts';
import type { PullOutcome } from '../pull/pull.ts';
import { ScopeMatcher, scopeAddress } from '../rights/scope.ts';
import { deviceAddress } from '../rows/device-rows.ts';
import { BoundedMemory } from './bounded-memory.ts';
import { changesIn, concernOf, type Watch } from './commit-concerns.ts';

export interface DeviceName {
  readonly database: DatabaseId;
  readonly device: DeviceId;
}

interface Listener extends DeviceName {
  /** Keys of its credential, and of the document as which it acts. */
  readonly own: readonly Key[];
  readonly onHint: (hint: ChangeHint) => void;
}

/** The result of a pull that hints need: what was read, and how the device will pull next. */
export type PullRead = Pick<PullOutcome, 'database' | 'sets' | 'scope' | 'sharedRights'> & {
  readonly pulled: Omit<Pulled, 'puts' | 'leaves' | 'verdicts'>;
};

/** The last answer to a device, and its expected next pull. */
export interface ExpectedPull {
  readonly next: Pull;
  readonly pulled: Pick<Pulled, 'actor' | 'lastSeq'>;
  /** The secret of its last pull. */
  readonly secret: string;
  /** Undefined: what the device may read must be evaluated for it alone. */
  readonly sharedRights: PullOutcome['sharedRights'];
  /** Equal for devices with equal sets, schema and shared rights. */
  readonly kind: number;
}

/** The data that devices with the same kind number share. */
interface Kind {
  readonly number: number;
  readonly sets: Pull['sets'];
}

/** A device that listens. */
interface ListeningDevice {
  readonly database: DatabaseId;
  readonly listeners: Set<Listener>;
  /** Key of its record. */
  readonly key: Key;
  /** Key of its scope: the data on which its rights depend. */
  readonly scopeKey: Key;
  /** The device is pushing, and will pull after that without a hint. */
  isPushing: boolean;
  /** A hint that was not sent because of the push. */
  heldBack: ChangeHint | undefined;
}

/** A device whose data no longer fits into the limited memory gets a hint for every change of documents, and pulls. */
export class ChangeHints {
  private readonly devices = new Map<string, ListeningDevice>();
  private readonly watches = new BoundedMemory<Watch>();
  /** By devices that listen. */
  private readonly standings = new BoundedMemory<ExpectedPull>();
  private readonly rangesByText = new BoundedMemory<Watch['ranges']>();
  private readonly kinds = new BoundedMemory<Kind>();
  private lastKind = 0;
  /** All commits after `knownFrom`, up to and including `head`, were processed here. */
  private knownFrom: Micros = Infinity;
  private head: Micros = -1;

  onCommit(notice: CommitNotice): void {
    const { previous, ts, rows } = notice;
    const isSetBack = ts < this.head;
    if (previous !== this.head) this.knownFrom = previous;
    this.head = ts;
    if (this.devices.size === 0) return;
    // A commit of another process that has too many changes to list them.
    const isUnknown = previous === ts;
    const byDatabase = changesIn(notice);
    const records = new Set(rows.flatMap(({ space, key }) => (space === 'sync' ? [key] : [])));
    const hint: ChangeHint = { head: ts };
    for (const [name, device] of this.devices) {
      if (records.has(device.key)) this.forgetRights(name);
      // A pull at another process has new sets, or depends on more data. This process has not seen that pull.
      if (records.has(device.scopeKey)) this.forgetReads(name);
      const changes = byDatabase.get(device.database);
      const concern = isUnknown
        ? 'rights'
        : changes && concernOf(changes, device.listeners, this.watches.get(name));
      if (!concern) continue;
      // The device pulls itself: its last pull may show lost commits, and then it seems to know more than the hub.
      if (isSetBack) this.standings.delete(name);
      if (concern === 'rights') {
        this.forgetRights(name);
        // The parts of its sets may have changed, too, which this process does not see if the next pull is at another one.
        this.watches.delete(name);
      }
      if (device.isPushing) device.heldBack = hint;
      else notify(device, hint);
    }
  }

  /** From now until its next pull, the device needs no hints. */
  onPush(device: DeviceName): void {
    const listening = this.devices.get(nameOf(device));
    if (listening) listening.isPushing = true;
  }

  /** The device pulls next, which shows the changes held back. If that pull may be at another process, hints must not wait for it. */
  onPushed(device: DeviceName): void {
    const listening = this.devices.get(nameOf(device));
    if (!listening || this.standing(device)) return;
    if (listening.listeners.size === 1) listening.heldBack = undefined;
    release(listening);
  }

  /** A pull that was expected here has probably gone to another process. */
  onBeat(device: DeviceName): void {
    const listening = this.devices.get(nameOf(device));
    if (listening) release(listening);
  }

  /**
   * @param secret with which the device pulled
   * @returns undefined if the device does not listen, or will pull again without a hint
   */
  onPull(message: Pull, outcome: PullRead, secret: string): ExpectedPull | undefined {
    const { database, sets, scope, pulled } = outcome;
    const name = nameOf({ database, device: message.device });
    const ranges = sets.flatMap(({ parts }) => parts.map(({ range }) => range));
    const text = JSON.stringify(ranges);
    const watch = { ranges: this.sameRanges(ranges, text), scope: new ScopeMatcher(scope) };
    this.watches.set(name, watch, text.length + JSON.stringify(scope).length);
    const listening = this.devices.get(name);
    if (!listening) return undefined;
    this.standAfter(name, message, outcome, secret);
    // If the device has several streams, only one of them has the answer to this pull.
    const { heldBack, listeners } = listening;
    if (heldBack && heldBack.head <= pulled.cursor && listeners.size === 1)
      listening.heldBack = undefined;
    release(listening);
    return this.standings.get(name);
  }

  /** The device was sent an answer that was evaluated for several devices. */
  onSharedPull(device: DeviceName, standing: ExpectedPull): void {
    this.standings.replace(nameOf(device), standing);
  }

  standing(device: DeviceName): ExpectedPull | undefined {
    return this.standings.get(nameOf(device));
  }

  /** If a device has several streams, data sent over one of them is not known to the others. */
  hasOneStream(device: DeviceName): boolean {
    return this.devices.get(nameOf(device))?.listeners.size === 1;
  }

  /** Whether this process has seen all commits between the two times. */
  hasSeenAll(since: Micros, until: Micros): boolean {
    return since >= this.knownFrom && until <= this.head;
  }

  /** Registers a listener. Returns a function that removes it. */
  listen(listener: Listener): () => void {
    const { database, device } = listener;
    const name = nameOf(listener);
    const listeners = this.devices.get(name)?.listeners ?? new Set();
    listeners.add(listener);
    const { key } = deviceAddress(database, device);
    const { key: scopeKey } = scopeAddress(database, device);
    const state = { isPushing: false, heldBack: undefined };
    this.devices.set(name, { database, listeners, key, scopeKey, ...state });
    // The device may have pulled other sets at another process before.
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

/** The expected next pull. Undefined if the device will pull without a hint. */
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
