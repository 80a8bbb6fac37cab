/**
 * Judges a write of a device: executes it once, in the order of the device's writes, as a transaction of its own, with the present rights.
 * The verdict and the device's new number are in one commit with the effects.
 */
import type { QueryRequest } from '../../../engine/host.ts';
import { refusalBody, type QueryPlan } from '../../../engine/session.ts';
import type { BodyInput, BodyResult } from '../../../engine/transactions.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { isTrackedSpace, NO_WRITES } from '../../../store/port.ts';
import type { Reader, Writer } from '../../../store/reader.ts';
import type { Micros } from '../../../values/value.ts';
import { derivedIds, makingHashOf } from '../../protocol/digest.ts';
import type { IdKey } from '../../protocol/device-ids.ts';
import { SyncRefused } from '../../protocol/refusals.ts';
import { refusingSecrets } from '../../protocol/refuse-secrets.ts';
import type { Verdict } from '../../protocol/writes.ts';
import { deviceRow, requireDeviceIn, type DeviceRecord } from '../rows/device-rows.ts';
import { requireEpoch } from '../rows/epoch.ts';
import { hubKeyIn, idKeyOf, isIdKeyOf } from '../rows/id-key.ts';
import {
  contentKey,
  contentRow,
  verdictByContent,
  verdictIn,
  verdictKey,
  verdictRow,
} from '../rows/verdict-rows.ts';
import {
  executeWrite,
  nextCommitTime,
  refused,
  refuseSecrets,
  type Judgement,
} from './execute-write.ts';
import { checkOfIds } from './given-ids.ts';
import type { OfferedWrite, PushHost } from './offered-write.ts';

/**
 * Returns the body of a transaction. It shares a commit with other writes, and sees the effects of those before it.
 * @throws SyncRefused `client_forked`, `gap`, those of `requireDeviceIn`; Refusal if the write could not be judged
 */
export function judgeWrite(
  write: OfferedWrite,
  host: PushHost,
): (input: BodyInput) => BodyResult<Verdict> {
  let plan: QueryPlan | undefined;
  return (input) => {
    const { writer } = input;
    requireEpoch(writer, write.epoch);
    const record = requireDeviceIn(writer, write.database, write.device, write.owner);
    const known = knownVerdict(writer, write, record);
    if (known) return { value: known };
    const now = clampedNow(write, record, input.head);
    // Planned only now, so that the time spent waiting for earlier writes does not count towards its timeout.
    const idKey = idKeyFor(writer, write, host);
    plan ??= planOf(write, now, idKey, host);
    const timed = plan.now === now ? plan : { ...plan, now };
    const { database, item, owner } = write;
    const key = contentKey(database, item.now, makingHashOf(item, owner, host.sha256));
    const before = verdictByContent(writer, key);
    const isOld = isTooOld(write);
    const judgement = before
      ? judgedBefore(before, write)
      : isOld
        ? refused(write, nextCommitTime(plan, input), refusalBody('forbidden', TOO_OLD))
        : executeWrite(write, timed, input, host);
    writeJudgement(writer, write, record, now, judgement);
    const { verdict } = judgement;
    // A write that is too old is refused each time. Verdicts on writes with a time before 1970 would never be deleted.
    if (!before && !isOld) writer.put('sync', contentRow(key, verdict));
    return { value: verdict, ts: before ? nextCommitTime(plan, input) : verdict.ts };
  };
}

/** The key in the write, if the hub gave it to this user, possibly for an earlier device id. Otherwise the key of the device. */
function idKeyFor(reader: Reader, { item, owner, device }: OfferedWrite, host: PushHost): IdKey {
  const { sha256 } = host;
  const hubKey = hubKeyIn(reader);
  const { idKey } = item;
  const isGood = idKey !== undefined && isIdKeyOf(owner, idKey, hubKey, sha256);
  return isGood ? idKey : idKeyOf(hubKey, { owner, device }, sha256);
}

/** The verdict of an equal write that another copy of the device has sent. The write is not executed again. */
const judgedBefore = (verdict: Verdict, { item }: OfferedWrite): Judgement => ({
  verdict: { ...verdict, seq: item.seq, hash: item.hash },
  effects: NO_WRITES,
});

function knownVerdict(
  writer: Writer,
  { item, previous, database, device }: OfferedWrite,
  { lastSeq, forgotten }: DeviceRecord,
): Verdict | undefined {
  const { seq, hash } = item;
  if (seq > lastSeq + 1)
    throw new SyncRefused(
      'gap',
      `The hub has processed writes up to ${lastSeq}. Send write ${lastSeq + 1} first.`,
    );
  const verdictOn = (at: number): Verdict | undefined =>
    at > forgotten ? verdictIn(writer, database, device, at) : undefined;
  if (seq === lastSeq + 1) {
    if (previous === undefined || verdictOn(seq - 1)?.hash === previous) return undefined;
    throw new SyncRefused(
      'client_forked',
      `The write before ${seq} differs from the one that the hub processed.`,
    );
  }
  const verdict = verdictOn(seq);
  if (verdict?.hash === hash) return verdict;
  throw new SyncRefused(
    'client_forked',
    `Write ${seq} differs from the one that the hub processed under this number.`,
  );
}

/** Measured by `now`, under which verdicts by content are stored. Older ones are deleted, so a write that old might run twice. */
const isTooOld = ({ item, request }: OfferedWrite): boolean =>
  item.now < request.started - SYNC_LIMITS.devicesKeptMicros;

const TOO_OLD =
  'The write was made more than 365 days ago, so the hub no longer knows whether it was executed. Check the data, and submit it again if it is missing.';

/** Not before the device's last time. A time in the future becomes the time of arrival, so the next is right once the clock is set. */
function clampedNow(
  { item, request }: OfferedWrite,
  { lastNow }: DeviceRecord,
  head: Micros,
): Micros {
  const arrived = Math.max(request.started, head);
  const isAhead = item.now > arrived + SYNC_LIMITS.nowAheadMicros;
  return Math.max(isAhead ? arrived : item.now, lastNow);
}

function planOf(
  { item, request }: OfferedWrite,
  now: Micros,
  idKey: IdKey,
  host: PushHost,
): QueryPlan {
  const query: QueryRequest = {
    secret: request.secret,
    query: item.query,
    apiVersion: item.apiVersion,
    allows: 'write',
    turnMs: () => host.longPushes?.turnMs(request.secret) ?? Infinity,
    ...(host.queryTimeoutMs !== undefined && { timeoutMs: host.queryTimeoutMs }),
  };
  const ids = item.ids.map(BigInt);
  const moreIds = derivedIds(item, idKey, host.sha256);
  const plan = host.transactions.plan(query, { now, ids, moreIds });
  return refusingSecrets(plan, refuseSecrets, checkOfIds({ item }, idKey, host));
}

function writeJudgement(
  writer: Writer,
  { database, device, settled }: OfferedWrite,
  record: DeviceRecord,
  now: Micros,
  { verdict, effects }: Judgement,
): void {
  for (const { space, row } of effects.puts) if (isTrackedSpace(space)) writer.put(space, row);
  for (const { space, key } of effects.deletes)
    if (isTrackedSpace(space)) writer.delete(space, key);
  writer.put('sync', verdictRow(database, device, verdict));
  const lastSeq = verdict.seq;
  const keptFrom = Math.min(settled, lastSeq - SYNC_LIMITS.verdictsKept);
  // Deletes by number, a few per write, so that no row has to be read.
  const forgotten = Math.min(keptFrom, record.forgotten + FORGOTTEN_AT_ONCE);
  for (let seq = record.forgotten + 1; seq <= forgotten; seq++)
    writer.delete('sync', verdictKey(database, device, seq));
  writer.put(
    'sync',
    deviceRow(database, device, {
      ...record,
      lastSeq,
      lastNow: now,
      forgotten: Math.max(record.forgotten, forgotten),
    }),
  );
}

const FORGOTTEN_AT_ONCE = 4;
