/**
 * Writes of a device, run here for good: each is a transaction of its own under the rights of now, in the order of the device, once. The
 * verdict and the number of the device are in the commit of the effects, so that either all of it happened or nothing.
 */
import { decodeDocumentKey, documentKey } from '../../codec/key.ts';
import type { QueryRequest } from '../../engine/host.ts';
import type { Transactions } from '../../engine/engine.ts';
import {
  type QueryExecution,
  type QueryPlan,
  errorBody,
  refusalBody,
} from '../../engine/session.ts';
import type { BodyInput, BodyResult } from '../../engine/transactions.ts';
import type { Caller } from '../../engine/context.ts';
import { fault, Refusal, type RefusalCode } from '../../errors.ts';
import { LIMITS, SYNC_LIMITS } from '../../limits.ts';
import type { ApiVersion } from '../../query/session.ts';
import { Overlay } from '../../store/overlay.ts';
import { isTrackedSpace, type WriteSet } from '../../store/port.ts';
import { Suspended, type Reader, type Writer } from '../../store/reader.ts';
import type { DatabaseId, Micros } from '../../values/value.ts';
import { contentHashOf, derivedIds, digestOf } from '../digest.ts';
import { SyncRefused } from '../messages.ts';
import type { DeviceId, PushItem, Verdict } from '../protocol.ts';
import { withoutSecrets } from '../without-secrets.ts';
import { ownerOf, type Exchange } from './asker.ts';
import {
  deviceRow,
  madeIn,
  madeKey,
  madeRow,
  requireDeviceIn,
  requireEpoch,
  verdictIn,
  verdictKey,
  verdictRow,
  type DeviceRecord,
} from './device-rows.ts';
import type { Troubles } from './troubles.ts';

export interface PushHost {
  readonly transactions: Transactions;
  readonly clock: () => Micros;
  readonly sha256: (bytes: Uint8Array) => Uint8Array;
  readonly troubles: Troubles;
  readonly queryTimeoutMs: number | undefined;
}

/** One write of a push, and whose it is. */
export interface Offer {
  readonly item: PushItem;
  /** Hash of the write before it in the same push: they stand on each other. */
  readonly previous: string | undefined;
  /** Its query, where that was too long to be read at one go. */
  readonly parsed: QueryPlan['parsed'] | undefined;
  readonly device: DeviceId;
  readonly epoch: string;
  readonly database: DatabaseId;
  readonly owner: string;
  /** Verdicts up to here are kept by the device. */
  readonly settled: number;
  readonly exchange: Exchange;
}

/**
 * Runs in a commit with the writes before and after it, over what those before it left.
 * @throws SyncRefused `client_forked`, `gap`, and as `requireDeviceIn`; Refusal when it could not be judged
 */
export function attemptWrite(
  offer: Offer,
  host: PushHost,
): (input: BodyInput) => BodyResult<Verdict> {
  let plan: QueryPlan | undefined;
  return (input) => {
    const { writer } = input;
    requireEpoch(writer, offer.epoch);
    const record = requireDeviceIn(writer, offer.database, offer.device, offer.owner);
    const known = knownVerdict(writer, offer, record);
    if (known) return { value: known, ts: input.head, keep: false };
    const now = clampedNow(offer, record);
    // Made when its turn has come: waiting for the writes before it is not its time.
    plan ??= planOf(offer, now, host);
    const timed = plan.now === now ? plan : { ...plan, now };
    const made = contentKey(offer, host);
    const before = madeIn(writer, made, offer.owner);
    const judged = before ? judgedBefore(before, offer) : judge(offer, timed, input, host);
    writeJudged(writer, offer, record, now, judged);
    if (!before) writer.put('sync', madeRow(made, offer.owner, judged.verdict));
    const ts = before ? after(plan, input) : judged.verdict.ts;
    return { value: judged.verdict, ts, keep: true };
  };
}

/** A commit is later than the one before it. */
const after = ({ started }: QueryPlan, { head }: BodyInput): Micros => Math.max(started, head) + 1;

/** Its number is not part of what it is. */
const contentKey = ({ item, database }: Offer, { sha256 }: PushHost) =>
  madeKey(database, item.now, contentHashOf(item, sha256));

/** A copy of the device has brought it before: it is not made again. */
const judgedBefore = (verdict: Verdict, { item }: Offer): Judged => ({
  verdict: { ...verdict, seq: item.seq, hash: item.hash },
  effects: NO_EFFECTS,
});

function knownVerdict(
  writer: Writer,
  { item, previous, database, device }: Offer,
  { lastSeq, forgotten }: DeviceRecord,
): Verdict | undefined {
  const { seq, hash } = item;
  if (seq > lastSeq + 1)
    throw new SyncRefused(
      'gap',
      `The hub has processed writes up to ${lastSeq}. Send write ${lastSeq + 1} first.`,
    );
  const verdictOf = (at: number): Verdict | undefined =>
    at > forgotten ? verdictIn(writer, database, device, at) : undefined;
  if (seq === lastSeq + 1) {
    if (previous === undefined || verdictOf(seq - 1)?.hash === previous) return undefined;
    throw new SyncRefused(
      'client_forked',
      `The write before ${seq} differs from the one that the hub processed.`,
    );
  }
  const verdict = verdictOf(seq);
  if (verdict?.hash === hash) return verdict;
  throw new SyncRefused(
    'client_forked',
    `Write ${seq} differs from the one that the hub processed under this number.`,
  );
}

/** Never before what the device said before. One that is too far ahead is when it came here: so the next, once the clock is set, is right. */
function clampedNow({ item, exchange }: Offer, { lastNow }: DeviceRecord): Micros {
  const isAhead = item.now > exchange.started + SYNC_LIMITS.nowAheadMicros;
  return Math.max(isAhead ? exchange.started : item.now, lastNow);
}

function planOf({ item, parsed, exchange }: Offer, now: Micros, host: PushHost): QueryPlan {
  const request: QueryRequest = {
    secret: exchange.secret,
    query: item.query,
    // Looked at when it came in.
    apiVersion: item.apiVersion as ApiVersion,
    allows: 'write',
    ...(host.queryTimeoutMs !== undefined && { timeoutMs: host.queryTimeoutMs }),
  };
  const ids = item.ids.map(BigInt);
  const moreIds = derivedIds(item, host.sha256);
  const plan = host.transactions.plan(request, { now, ids, moreIds, ...(parsed && { parsed }) });
  return withoutSecrets(plan, refuseSecrets);
}

/** Ends a run that asks for a password, login, key or token. */
class MakesSecret extends Error {}

function refuseSecrets(): never {
  throw new MakesSecret();
}

interface Judged {
  readonly verdict: Verdict;
  readonly effects: WriteSet;
}

const NO_EFFECTS: WriteSet = { puts: [], deletes: [] };

function judge(offer: Offer, plan: QueryPlan, input: BodyInput, host: PushHost): Judged {
  const own = new Overlay(input.writer);
  const judgedAt = after(plan, input);
  try {
    const run = host.transactions.execute(plan, { ...input, writer: own });
    requireOwner(offer, run.value.caller);
    const effects = own.writes();
    if (hasTakenId(offer, plan.inputs.madeIds, effects, input.writer))
      return refused(offer, judgedAt, errorBody([ID_TAKEN]));
    if (run.value.outcome.ok) return accepted(offer, plan, run, effects, host);
    const ran = { ...run, committed: undefined, readSet: NO_READS, retries: 0 };
    return refused(offer, judgedAt, host.transactions.answer(plan, ran).body);
  } catch (thrown) {
    return refused(offer, judgedAt, bodyOfRefusal(offer, thrown, host));
  }
}

/**
 * The device made up an id that a document here has: the engine took the next one, but what the device does later would be done to that
 * document.
 */
function hasTakenId(
  { item, database }: Offer,
  made: readonly bigint[],
  { puts }: WriteSet,
  reader: Reader,
): boolean {
  const given = item.ids.map(BigInt);
  const others = new Set(made.slice(given.length));
  return puts.some(({ space, row }) => {
    if (space !== 'documents' || others.size === 0) return false;
    const { collection, id } = decodeDocumentKey(row.key);
    if (!others.has(id)) return false;
    return given.some((taken) => {
      const key = documentKey(database, collection, taken);
      return reader.rowAssumedAbsent({ space: 'documents', key }) !== undefined;
    });
  });
}

const ID_TAKEN = fault(
  'instance already exists',
  [],
  'A document id that the device generated is already in use.',
);

const NO_READS = { rows: [], ranges: [] };

/** The credential may have become somebody else's since the push began. */
function requireOwner({ owner, database }: Offer, caller: Caller): void {
  if (caller.database === database && ownerOf(caller) === owner) return;
  throw new SyncRefused('device_taken', 'This device id belongs to another user.');
}

function accepted(
  { item }: Offer,
  plan: QueryPlan,
  run: BodyResult<QueryExecution>,
  effects: WriteSet,
  host: PushHost,
): Judged {
  const { value, ts } = run;
  const text = value.outcome.ok ? value.outcome.text : '';
  const isAsShown =
    item.digest === undefined
      ? plan.now === item.now
      : item.digest === digestOf(effects, text, host.sha256);
  const { body } = host.transactions.answer(plan, {
    value,
    committed: ts,
    readSet: NO_READS,
    retries: 0,
  });
  const state = isAsShown ? 'confirmed' : 'amended';
  return { verdict: verdictOf(item, state, ts, body), effects };
}

const refused = ({ item }: Offer, ts: Micros, body: string): Judged => ({
  verdict: verdictOf(item, 'refused', ts, body),
  effects: NO_EFFECTS,
});

const verdictOf = (
  { seq, hash }: PushItem,
  state: Verdict['state'],
  ts: Micros,
  body: string,
): Verdict => ({
  seq,
  hash,
  state,
  ts,
  body: body.length <= LIMITS.verdictBytes ? body : undefined,
});

/** Refusals that are about the query itself: it would be refused each time. */
const OF_THE_QUERY: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'bad request',
  'forbidden',
  'not found',
  'method not allowed',
  'request too large',
  'limit_exceeded',
  'history_not_local',
  'connection_needed',
]);

/** @throws what is not about the query */
function bodyOfRefusal(offer: Offer, thrown: unknown, { troubles }: PushHost): string {
  if (thrown instanceof MakesSecret) return refusalBody('connection_needed', NEEDS_CONNECTION);
  if (thrown instanceof Suspended || thrown instanceof SyncRefused) throw thrown;
  if (!(thrown instanceof Refusal)) {
    if (troubles.isHopeless(offer)) return refusalBody('internal server error', HOPELESS);
    throw new WriteTrouble(thrown);
  }
  if (OF_THE_QUERY.has(thrown.code)) return refusalBody(thrown.code, thrown.message);
  if (thrown.code !== 'time out') throw thrown;
  if (troubles.isHopeless(offer)) return refusalBody(thrown.code, thrown.message);
  throw new WriteTrouble(thrown);
}

/** It may be the write itself, or the hour: tried again some times before it is refused, so that it does not stand in the way for ever. */
export class WriteTrouble extends Error {
  constructor(cause: unknown) {
    super('A write could not be completed.', { cause });
  }
}

const NEEDS_CONNECTION =
  'Queries with passwords, logins, keys or tokens cannot be synced. Run them at the hub directly.';
const HOPELESS = 'The hub failed on this write on every attempt.';

function writeJudged(
  writer: Writer,
  { database, device, settled }: Offer,
  record: DeviceRecord,
  now: Micros,
  { verdict, effects }: Judged,
): void {
  for (const { space, row } of effects.puts) if (isTrackedSpace(space)) writer.put(space, row);
  for (const { space, key } of effects.deletes)
    if (isTrackedSpace(space)) writer.delete(space, key);
  writer.put('sync', verdictRow(database, device, verdict));
  const lastSeq = verdict.seq;
  const keepsFrom = Math.min(settled, lastSeq - SYNC_LIMITS.verdictsKept);
  // As many as have piled up, one after the other: no look at what is there is needed.
  const forgotten = Math.min(keepsFrom, record.forgotten + FORGOTTEN_AT_ONCE);
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
