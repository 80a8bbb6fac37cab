/** Executes a write of a device, and says what became of it. */
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
import type { WriteSet } from '../../../store/port.ts';
import { Suspended } from '../../../store/reader.ts';
import type { CollectionId, Micros } from '../../../values/value.ts';
import type { IdKey } from '../../protocol/device-ids.ts';
import { digestOf } from '../../protocol/digest.ts';
import type { FileName } from '../../protocol/files.ts';
import { SyncRefused } from '../../protocol/refusals.ts';
import type { PushItem, Verdict } from '../../protocol/writes.ts';
import { ownerOf } from '../rights/caller-facts.ts';
import { callerOfDevice } from '../rights/device-caller.ts';
import { ReadRights } from '../rights/read-rights.ts';
import { deviceTaken } from '../rows/device-rows.ts';
import { faultOfIds } from './given-ids.ts';
import type { OfferedWrite, PushHost } from './offered-write.ts';

export interface Judgement {
  readonly verdict: Verdict;
  readonly effects: WriteSet;
}

export const NO_EFFECTS: WriteSet = { puts: [], deletes: [] };

/** A commit is later than the one before it. */
export const nextCommitTime = ({ started }: QueryPlan, { head }: BodyInput): Micros =>
  Math.max(started, head) + 1;

/** Ends the execution of a query that asks for a password, login, logout, key or token. */
class MakesSecret extends Error {}

export function refuseSecrets(): never {
  throw new MakesSecret();
}

/** @throws Suspended, SyncRefused; WriteFailed when the hub could not execute it, though a later try may */
export function executeWrite(
  write: OfferedWrite & { readonly idKey: IdKey },
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
    const wrong = faultOfIds(write, plan.inputs.madeIds, effects, input, host);
    if (wrong) return refused(write, judgedAt, errorBody([wrong]));
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

/** What HTTP would answer; of errors, as pages tell them, unless other rights have met them: who made the write reads them. */
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

/** The credential may belong to another user since the push began. */
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
  // Of what other rights have written, a digest would be a guess: only an admin's device runs such a function.
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
 * In documents as the write left them, if the person may read them: a function with a role of its own writes others too, and nobody brings
 * files of those. Of one that names too many, as of too many documents, the rest is not told.
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
  effects: NO_EFFECTS,
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

/** Refusals that are about the query itself: another try would end the same. */
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

/** @throws what is not about the query */
function bodyOfRefusal(write: OfferedWrite, thrown: unknown, { failedWrites }: PushHost): string {
  if (thrown instanceof MakesSecret) return refusalBody('connection_needed', NEEDS_CONNECTION);
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

/** Because of the write itself, or of a passing trouble: it gets some tries before it is refused, so that it does not block the others. */
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
