/** Executes a write of a device and determines its verdict. */
import { filesIn } from '../../../codec/file-names.ts';
import { decodeDocumentKey } from '../../../codec/key.ts';
import {
  detailedBody,
  errorBody,
  hasOwnRights,
  refusalBody,
  type QueryExecution,
  type QueryPlan,
} from '../../../engine/session.ts';
import type { BodyInput } from '../../../engine/transactions.ts';
import type { Caller } from '../../../engine/context.ts';
import { Refusal, type RefusalCode } from '../../../errors.ts';
import { LIMITS, SYNC_LIMITS } from '../../../limits.ts';
import { TurnOver } from '../../../query/turn-over.ts';
import { Overlay } from '../../../store/overlay.ts';
import { NO_WRITES, type WriteSet } from '../../../store/port.ts';
import { Suspended } from '../../../store/reader.ts';
import type { CollectionId, Micros } from '../../../values/value.ts';
import { digestOf } from '../../protocol/digest.ts';
import type { FileName } from '../../protocol/files.ts';
import { SyncRefused } from '../../protocol/refusals.ts';
import type { PushItem, Verdict } from '../../protocol/writes.ts';
import { ownerOf } from '../rights/caller-facts.ts';
import { callerOfDevice } from '../rights/device-caller.ts';
import { ReadRights } from '../rights/read-rights.ts';
import { deviceTaken } from '../rows/device-rows.ts';
import { IdRefused } from './given-ids.ts';
import type { OfferedWrite, PushHost } from './offered-write.ts';

export interface Judgement {
  readonly verdict: Verdict;
  readonly effects: WriteSet;
}

/** The commit time: later than that of the previous commit. */
export const nextCommitTime = ({ started }: QueryPlan, { head }: BodyInput): Micros =>
  Math.max(started, head) + 1;

/** Ends the execution of a query that needs a password, login, logout, key or token. */
class MakesSecret extends Error {}

export function refuseSecrets(): never {
  throw new MakesSecret();
}

/** @throws Suspended, SyncRefused; WriteFailed if the hub could not execute the write, but a later try may succeed */
export function executeWrite(
  write: OfferedWrite,
  plan: QueryPlan,
  input: BodyInput,
  host: PushHost,
): Judgement {
  const own = new Overlay(input.writer);
  const judgedAt = nextCommitTime(plan, input);
  const { hash } = write.item;
  if (host.watchedWrites?.isFatal(hash))
    return refused(write, judgedAt, refusalBody('limit_exceeded', TAKES_TOO_MUCH));
  host.watchedWrites?.begin(hash);
  try {
    const { value, ts } = host.transactions.execute(plan, { ...input, writer: own });
    requireOwner(write, value.caller);
    const effects = own.writes();
    if (ts !== undefined) {
      const reader = (): ReadRights =>
        new ReadRights(callerOfDevice(write.request, input, input.writer, host).over(own));
      return accepted(write, plan, { value, ts, effects, reader }, host);
    }
    return refused(write, judgedAt, answerBody(plan, value, undefined, host));
  } catch (thrown) {
    return refused(write, judgedAt, bodyOfRefusal(write, thrown, host));
  }
}

/** The body of the HTTP response. Errors are detailed, as in a page, for the user who made the write, if its own rights caused them. */
function answerBody(
  plan: QueryPlan,
  value: QueryExecution,
  committed: Micros | undefined,
  { transactions }: PushHost,
): string {
  const { body, faults } = transactions.answer(plan, { value, ...NOT_SHOWN, committed });
  return faults && hasOwnRights(value) ? detailedBody(faults) : body;
}

const NOT_SHOWN = { readSet: { rows: [], ranges: [] }, head: 0, retries: 0 };

/** Checked again, because the credential may belong to another user since the push began. */
function requireOwner({ owner, database }: OfferedWrite, caller: Caller): void {
  if (caller.database !== database || ownerOf(caller) !== owner) throw deviceTaken();
}

interface AcceptedWrite {
  readonly value: QueryExecution;
  readonly ts: Micros;
  readonly effects: WriteSet;
  readonly reader: () => ReadRights;
}

function accepted(
  { item }: OfferedWrite,
  plan: QueryPlan,
  { value, ts, effects, reader }: AcceptedWrite,
  host: PushHost,
): Judgement {
  const text = value.outcome.ok ? value.outcome.text : '';
  // If other rights took part, the digest is not compared: it could confirm a guess. Only an admin's device runs such functions.
  const isAsShown =
    item.digest === undefined
      ? plan.now === item.now
      : hasOwnRights(value) && item.digest === digestOf(effects, text, host.sha256);
  const state = isAsShown ? 'confirmed' : 'amended';
  const made = verdictOn(item, state, ts, answerBody(plan, value, ts, host));
  const files = filesLeftBy(effects, reader);
  return { verdict: files.length > 0 ? { ...made, files } : made, effects };
}

/**
 * The files in the written documents, if the user may read these documents. A function with a role of its own may also write documents that
 * the user may not read; their files are not uploaded by anyone. Documents and files beyond the limits are left out.
 */
function filesLeftBy({ puts }: WriteSet, reader: () => ReadRights): NonNullable<Verdict['files']> {
  let rights: ReadRights | undefined;
  const left: [CollectionId, string, readonly FileName[]][] = [];
  for (const { space, row } of puts) {
    if (space !== 'documents' || left.length === SYNC_LIMITS.filesInVerdict) continue;
    const files = filesIn(String(row.value)).slice(0, SYNC_LIMITS.filesInVerdict);
    if (files.length === 0) continue;
    rights ??= reader();
    if (!rights.mayRead(row.key)) continue;
    const { collection, id } = decodeDocumentKey(row.key);
    left.push([collection, String(id), files]);
  }
  return left;
}

export const refused = ({ item }: OfferedWrite, ts: Micros, body: string): Judgement => ({
  verdict: verdictOn(item, 'refused', ts, body),
  effects: NO_WRITES,
});

const verdictOn = (
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

/** Refusals caused by the query itself, so a retry would have the same result. */
const ABOUT_THE_QUERY: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'bad request',
  'forbidden',
  'not found',
  'method not allowed',
  'request too large',
  'limit_exceeded',
  'history_not_local',
  'connection_needed',
]);

const PASSED_ON = [Suspended, SyncRefused, TurnOver];

/** @throws errors that the query itself did not cause */
function bodyOfRefusal(write: OfferedWrite, thrown: unknown, { failedWrites }: PushHost): string {
  if (thrown instanceof MakesSecret) return refusalBody('connection_needed', NEEDS_CONNECTION);
  if (thrown instanceof IdRefused) return errorBody([thrown.fault]);
  if (PASSED_ON.some((type) => thrown instanceof type)) throw thrown;
  if (!(thrown instanceof Refusal)) {
    if (failedWrites.isLastTry(write)) return refusalBody('internal server error', ALWAYS_FAILS);
    throw new WriteFailed(thrown);
  }
  if (ABOUT_THE_QUERY.has(thrown.code)) return refusalBody(thrown.code, thrown.message);
  if (thrown.code !== 'time out') throw thrown;
  if (failedWrites.isLastTry(write)) return refusalBody(thrown.code, thrown.message);
  throw new WriteFailed(thrown);
}

/** The write, or a temporary failure, is the cause. It is retried a few times and then refused, so that it does not block later writes. */
export class WriteFailed extends Error {
  constructor(cause: unknown) {
    super('A write could not be completed.', { cause });
  }
}

const NEEDS_CONNECTION =
  'Queries with passwords, logins, logouts, keys or tokens cannot be synced. Run them at the hub directly.';
const TAKES_TOO_MUCH =
  'The write takes more memory or time than a write may take, so its thread was ended.';
const ALWAYS_FAILS = 'The hub failed on this write on every attempt.';
