/** Answers hello: registers the device for its owner, and returns the state of the hub. */
import type { BodyInput, BodyResult } from '../../engine/transactions.ts';
import { SYNC_LIMITS } from '../../limits.ts';
import { DAY_MICROS } from '../../values/time.ts';
import type { DatabaseId, Micros } from '../../values/value.ts';
import type { DeviceId } from '../protocol/identifiers.ts';
import { SYNC_PROTOCOL, type Hello, type Welcome } from '../protocol/messages.ts';
import { SyncRefused } from '../protocol/refusals.ts';
import type { PullHost } from './pull/pull-context.ts';
import { actorOf, expiryOf, ownerOf, passwordTimeOf } from './rights/caller-facts.ts';
import { callerOfDevice, type DeviceRequest } from './rights/device-caller.ts';
import {
  deviceIn,
  deviceRow,
  ownedAddress,
  ownedRow,
  requireRoom,
  type DeviceRecord,
} from './rows/device-rows.ts';
import { epochIn } from './rows/epoch.ts';
import { keepGaps } from './rows/gap-rows.ts';
import { hubKeyIn, idKeyOf } from './rows/id-key.ts';

/** A device's record is written at most once in this time if it has not changed otherwise. */
const SEEN_STEP: Micros = DAY_MICROS;
const CONTACT_STEP: Micros = 3600 * 1_000_000;

/** @throws SyncRefused `upgrade_needed` */
export function requireProtocol({ protocol }: Hello): void {
  if (protocol !== SYNC_PROTOCOL)
    throw new SyncRefused('upgrade_needed', `This hub supports protocol ${SYNC_PROTOCOL} only.`);
}

export interface Greeted {
  readonly welcome: Welcome;
  /** The hub has met the device, so the device can use the welcome even if nothing is stored. */
  readonly isKnown: boolean;
  /** Something is to be stored. */
  readonly hasNews: boolean;
}

/** @throws Suspended, SyncRefused */
export function hello(
  { device, epoch: deviceEpoch, lastSeq: deviceSeq, settled = 0 }: Hello,
  request: DeviceRequest,
  input: BodyInput,
  host: PullHost,
): BodyResult<Greeted> {
  const { writer, head } = input;
  const caller = callerOfDevice(request, input, writer, host);
  const { database } = caller.caller;
  const owner = ownerOf(caller.caller);
  const epoch = epochIn(writer);
  const known = deviceIn(writer, database, device, owner);
  if (!known && settled > 0 && deviceEpoch === epoch) throw deviceExpired();
  // As for queries: the clock may have been set back.
  const hubTime = Math.max(request.started, head);
  if (!known) requireRoom(writer, { database, owner }, hubTime);
  const lastSeq = known?.lastSeq ?? 0;
  if (deviceSeq < lastSeq) throw regressed(lastSeq, deviceSeq);
  const welcome: Welcome = {
    protocol: SYNC_PROTOCOL,
    device,
    epoch,
    hubTime,
    lastSeq,
    actor: actorOf(caller),
    expiresAt: expiryOf(caller),
    passwordSetAt: passwordTimeOf(caller),
    idKey: idKeyOf(hubKeyIn(writer), { owner, device }, host.sha256),
  };
  // The device has no unsent writes, so its next writes are made after this.
  const writesSince = deviceSeq === lastSeq ? hubTime - SYNC_LIMITS.nowAheadMicros : 0;
  const isNoted = noteContact(writer, { database, owner, device }, known, { hubTime, writesSince });
  const ts = hubTime + 1;
  // If this is the first commit of this process, there is none between it and the head.
  const { gaps } = host.recent;
  const isKept = keepGaps(writer, gaps.length > 0 ? gaps : [{ previous: head, ts }]);
  return { value: { welcome, isKnown: known !== undefined, hasNews: isNoted || isKept }, ts };
}

interface OwnedDevice {
  readonly database: DatabaseId;
  readonly owner: string;
  readonly device: DeviceId;
}

/**
 * @param contact `writesSince`: the device's unsent writes were made after this time; 0 if unknown
 * @returns whether the device's record was written
 */
function noteContact(
  writer: BodyInput['writer'],
  { database, owner, device }: OwnedDevice,
  known: DeviceRecord | undefined,
  { hubTime, writesSince }: { readonly hubTime: Micros; readonly writesSince: Micros },
): boolean {
  const lastNow = known?.lastNow ?? 0;
  const isLater = writesSince - lastNow > CONTACT_STEP;
  const isSeen = known?.protocol === SYNC_PROTOCOL && hubTime - known.seen <= SEEN_STEP;
  if (isSeen && !isLater) return false;
  const record: DeviceRecord = {
    owner,
    lastSeq: 0,
    forgotten: 0,
    ...known,
    lastNow: Math.max(lastNow, writesSince),
    protocol: SYNC_PROTOCOL,
    seen: hubTime,
  };
  writer.put('sync', deviceRow(database, device, record));
  writer.put('sync', ownedRow(ownedAddress(database, owner, device), record));
  return true;
}

const regressed = (lastSeq: number, deviceSeq: number): SyncRefused =>
  new SyncRefused(
    'client_regressed',
    `The hub has processed ${lastSeq} writes of this device, which has made only ${deviceSeq}: its storage was restored or cloned. It takes a new id.`,
  );

/** The hub no longer knows which writes it has judged. The unsent ones are newer than that, or are refused for their age. */
const deviceExpired = (): SyncRefused =>
  new SyncRefused(
    'device_expired',
    'The hub does not know this device: the device has not connected for more than 365 days, or the database was restored from a backup or created anew. The device continues under a new id, with all its writes.',
  );
