/**
 * Takes over what a pull brought: stored rows become what the hub has confirmed, writes with a verdict leave the view, and those still
 * pending run again where the changes touch them. One attempt, so one commit, and nothing in between can be seen.
 */
import type { Announced, BodyInput, BodyResult } from '../../engine/transactions.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { Writer } from '../../store/reader.ts';
import type {
  DocumentName,
  Pulled,
  PulledDocument,
  SetAnswer,
  SetPart,
  Verdict,
} from '../protocol.ts';
import { Fenced, isLoaded, type Applied, type ReplicaSet, type ReplicaState } from './api.ts';
import { dropParts, putConfirmed, putSchema, removeConfirmed, Touched } from './confirmed.ts';
import { announcementOf, NO_EFFECTS } from './local-run.ts';
import { settledBy } from './outbox.ts';
import { noteEffects, outboxOf, runAgain, type RebaseHost } from './rebase.ts';
import {
  dropStaged,
  outboxRow,
  publicOf,
  readStagedRow,
  readState,
  stagedKey,
  stagedRow,
  STATE,
  stateRow,
  type OutboxRecord,
} from './rows.ts';

export interface ApplyHost extends RebaseHost {
  /** The engine's own place to evaluate bindings in. */
  readonly contextOf: (input: BodyInput) => EngineContext;
}

type Result = BodyResult<Applied>;

/**
 * Nothing happens when the answer is to a question about other sets than are wanted now, or of an earlier state: also of another copy that
 * has the same id.
 * @throws Suspended, Fenced
 */
export function attemptApply(
  { fence, asked }: { readonly fence: number; readonly asked: readonly AskedSet[] | undefined },
  pulled: Pulled,
  input: BodyInput,
  host: ApplyHost,
): Result {
  const state = requireFence(input.writer, fence);
  if (!isAnswerTo(pulled, state) || (asked && !areSame(asked, state.sets))) {
    const value = { state, documents: 0, bytes: 0, settled: [] };
    return { value, ts: input.head, keep: false };
  }
  if (pulled.epoch === state.epoch && pulled.cursor < (state.cursor ?? 0))
    throw new Error(
      'The response is older than the state of this device; something in between cached it.',
    );
  return pulled.more ? stage(state, pulled, input, host) : applyAll(state, pulled, input, host);
}

/** Whether it answers a question that was asked of this state. */
export const isAnswerTo = ({ after }: Pulled, { token }: ReplicaState): boolean => after === token;

type AskedSet = Pick<ReplicaSet, 'id' | 'query'>;

const areSame = (one: readonly AskedSet[], other: readonly AskedSet[]): boolean =>
  one.length === other.length &&
  one.every(({ id, query }, i) => other[i]?.id === id && other[i]?.query === query);

/** @throws Fenced */
export function requireFence(writer: Writer, fence: number): ReplicaState {
  const state = readState(writer.row(STATE));
  if (state?.fence !== fence) throw new Fenced('Another tab has taken over the sync.');
  return state;
}

function stage(state: ReplicaState, pulled: Pulled, input: BodyInput, host: ApplyHost): Result {
  const parts = state.staged?.parts ?? 0;
  input.writer.put('sync', stagedRow(parts, pulled));
  const staged = { cursor: pulled.cursor, parts: parts + 1 };
  const next: ReplicaState = { ...state, staged, ...judgementIn(pulled, state) };
  input.writer.put('sync', stateRow(next));
  const { commitTs } = host.contextOf(input);
  const documents = pulled.puts.length + pulled.leaves.length;
  return { value: { state: next, documents, bytes: 0, settled: [] }, ts: commitTs, keep: true };
}

function applyAll(state: ReplicaState, last: Pulled, input: BodyInput, host: ApplyHost): Result {
  const { writer } = input;
  const pulled = withStaged(writer, state, last);
  const touched = new Touched();
  const context = host.contextOf(input);
  if (pulled.schema) putSchema(context, writer, pulled.schema.documents, touched);
  putConfirmed(host.contextOf(input), writer, pulled.puts, touched, state.cursor);
  removeConfirmed(writer, pulled.leaves, touched);
  const sets = setsAfter(state, pulled);
  dropParts(writer, partsOf(state.sets), partsOf(sets), touched);
  const documents = touched.rows.size;

  const records = outboxOf(writer, state);
  const settled = settleRecords(records, pulled.verdicts);
  const after = afterOutbox(writer, { state, pulled, records, settled, touched, input, host });
  const next: ReplicaState = {
    ...state,
    epoch: pulled.epoch,
    cursor: pulled.cursor,
    ...judgementIn(pulled, state),
    staged: undefined,
    schema: pulled.schema?.version ?? state.schema,
    actor: pulled.actor,
    sets,
    ...after.numbers,
  };
  writer.put('sync', stateRow(next));
  dropStaged(writer, state);
  return {
    value: { state: next, documents, bytes: bytesOf(pulled.puts), settled: settled.map(publicOf) },
    ts: Math.max(context.commitTs, pulled.cursor),
    keep: true,
    announced: after.announced,
  };
}

/** A comparison that is due is due until one has been made. */
const judgementIn = ({ token, check }: Pulled, { suspectSince }: ReplicaState) => ({
  token,
  suspectSince: check ? token : suspectSince,
});

/** All parts of one pull as one: what a later one says stands. */
function withStaged(writer: Writer, { staged }: ReplicaState, last: Pulled): Pulled {
  if (!staged) return last;
  const puts = new Map<string, PulledDocument>();
  const leaves = new Map<string, DocumentName>();
  const take = (part: Pulled): void => {
    for (const put of part.puts) {
      const name = `${put[0]}/${put[1]}`;
      leaves.delete(name);
      puts.set(name, put);
    }
    for (const leave of part.leaves) {
      const name = `${leave[0]}/${leave[1]}`;
      puts.delete(name);
      leaves.set(name, leave);
    }
  };
  let schema = last.schema;
  for (let part = 0; part < staged.parts; part++) {
    const row = writer.row({ space: 'sync', key: stagedKey(part) });
    if (!row) throw new Error('A stored part of a pull is missing.');
    const kept = readStagedRow(row);
    schema ??= kept.schema;
    take(kept);
  }
  take(last);
  return { ...last, schema, puts: [...puts.values()], leaves: [...leaves.values()] };
}

function setsAfter({ sets }: ReplicaState, pulled: Pulled): readonly ReplicaSet[] {
  const answers = new Map<string, SetAnswer>(pulled.sets.map((each) => [each.id, each]));
  return sets.map((set) => {
    const answer = answers.get(set.id);
    if (!answer) return set;
    const { parts, loaded, of, error } = answer;
    const isAll = isLoaded({ loaded, error });
    const wasAll = isLoaded(set);
    const brought = wasAll ? 0 : pulled.puts.length;
    const rows = isAll ? (of ?? set.rows + brought) : set.rows + brought;
    return { ...set, parts, loaded, of: of ?? set.of, rows, error };
  });
}

const partsOf = (sets: readonly ReplicaSet[]): readonly SetPart[] =>
  sets.flatMap(({ parts, error }) => (error ? [] : (parts ?? [])));

/** Those that get a verdict now. */
function settleRecords(
  records: OutboxRecord[],
  verdicts: readonly Verdict[],
): readonly OutboxRecord[] {
  const settled: OutboxRecord[] = [];
  const bySeq = new Map(verdicts.map((verdict) => [verdict.seq, verdict]));
  records.forEach((record, i) => {
    const next = settledBy(record, bySeq.get(record.item.seq));
    if (next) settled.push((records[i] = next));
  });
  return settled;
}

interface Taken {
  readonly state: ReplicaState;
  readonly pulled: Pulled;
  readonly records: readonly OutboxRecord[];
  readonly settled: readonly OutboxRecord[];
  readonly touched: Touched;
  readonly input: BodyInput;
  readonly host: ApplyHost;
}

type Numbers = Pick<ReplicaState, 'shownSeq' | 'settledSeq' | 'outboxSize' | 'generation'>;

function afterOutbox(
  writer: Writer,
  taken: Taken,
): { readonly numbers: Numbers; readonly announced: Announced } {
  const { state, pulled, records, settled, touched } = taken;
  const { era } = state;
  const shownSeq = shownSeqAfter(state, records, pulled);
  const isChanged = new Set(settled);
  const effects = [];
  for (const record of records) {
    const { seq } = record.item;
    if (seq > state.shownSeq && seq <= shownSeq) {
      // What it did is in the stored rows now, or never happened.
      noteEffects(writer, record, touched);
      if (record.effects) effects.push(record.effects);
      if (record.verdict) {
        writer.put('sync', outboxRow(era, { ...record, effects: NO_EFFECTS, reads: 'all' }));
        isChanged.delete(record);
      }
    }
    if (isChanged.has(record)) writer.put('sync', outboxRow(era, record));
  }
  const pending = records.filter(({ item }) => item.seq > shownSeq);
  const rerun = runAgain(writer, pending, taken);
  effects.push(...rerun.effects);
  const numbers = {
    shownSeq,
    settledSeq: settledSeqOf(state, records, shownSeq),
    outboxSize: rerun.size,
    generation: state.generation + (effects.length > 0 || shownSeq !== state.shownSeq ? 1 : 0),
  };
  return {
    numbers,
    announced: announcementOf(effects, (address) => writer.rowAssumedAbsent(address)),
  };
}

/** Writes up to here are in what came. One without a verdict is not: the hub has met the write of another copy under its number. */
function shownSeqAfter(
  { shownSeq, ...state }: ReplicaState,
  records: readonly OutboxRecord[],
  pulled: Pulled,
): number {
  const lastSeq = Math.min(pulled.lastSeq, state.lastSeq);
  const other = records.find(
    ({ item, verdict }) => item.seq > shownSeq && item.seq <= lastSeq && !verdict,
  );
  return Math.max(shownSeq, other ? other.item.seq - 1 : lastSeq);
}

/** Verdicts without a gap. */
function settledSeqOf(
  { settledSeq }: ReplicaState,
  records: readonly OutboxRecord[],
  shownSeq: number,
): number {
  let seq = settledSeq;
  for (const { item, verdict } of records) {
    if (item.seq !== seq + 1) continue;
    if (!verdict) break;
    seq = item.seq;
  }
  return Math.min(seq, Math.max(shownSeq, settledSeq));
}

const bytesOf = (puts: readonly PulledDocument[]): number =>
  puts.reduce((sum, [, , stored]) => sum + stored.length, 0);
