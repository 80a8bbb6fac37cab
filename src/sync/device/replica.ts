/** A copy of a hub's database on a device: see `api.ts`. */
import { hexOfBytes } from '../../codec/hex.ts';
import { collectionPrefix, after, type Key } from '../../codec/key.ts';
import type { Engine, QueryAnswer, QueryRequest } from '../../engine/api.ts';
import { mayWrite } from '../../engine/engine.ts';
import type { Announced, Attempt, AttemptInput } from '../../engine/attempts.ts';
import { ROOT_DATABASE } from '../../engine/databases.ts';
import { systemContext } from '../../engine/system-context.ts';
import { Refusal } from '../../errors.ts';
import { eachElement } from '../../query/gather.ts';
import type { Range } from '../../store/port.ts';
import type { Writer } from '../../store/reader.ts';
import { NATIVE, type Micros } from '../../values/value.ts';
import { hashOf } from '../digest.ts';
import type {
  Actor,
  DeviceId,
  DocumentName,
  Epoch,
  Pulled,
  PushItem,
  Verdict,
  Welcome,
} from '../protocol.ts';
import type {
  Applied,
  Replica,
  ReplicaSet,
  ReplicaState,
  Submitted,
  SubmitRequest,
  WriteRecord,
  WriteState,
} from './api.ts';
import { isSameIdentity } from './actor.ts';
import {
  attemptApply,
  noteEffects,
  publicOf,
  rebasePending,
  requireFence,
  type ApplyHost,
} from './apply.ts';
import { dropParts, Touched } from './confirmed.ts';
import { documentsOfSet, fingerprintOfSet } from './held.ts';
import { planFor, NO_EFFECTS } from './local-run.ts';
import {
  outboxAddress,
  outboxRange,
  outboxRow,
  readOutboxRow,
  readState,
  stagedKey,
  STATE,
  stateRow,
  type OutboxRecord,
} from './rows.ts';
import { attemptSubmit, type Located, type SubmitOutcome } from './submit.ts';
import type { ReplicaView, Seen } from './view.ts';

export interface ReplicaOptions {
  readonly engine: Pick<Engine, 'transactions'>;
  /** The one the engine was made with. */
  readonly view: ReplicaView;
  readonly clock: () => Micros;
  readonly random: (bytes: number) => Uint8Array;
  readonly sha256: (bytes: Uint8Array) => Uint8Array;
  /** A write has been kept; whoever made it is told when this is done. */
  readonly onSubmitted?: (write: Pick<Submitted, 'device' | 'item'>) => Promise<void>;
}

export const createReplica = (options: ReplicaOptions): Replica => new StoredReplica(options);

/** What a body makes of the state: the next one, when it changes. */
interface Step<T> {
  readonly value: T;
  readonly next?: ReplicaState;
  readonly announced?: Announced;
}

class StoredReplica implements Replica {
  private readonly options: ReplicaOptions;

  constructor(options: ReplicaOptions) {
    this.options = options;
  }

  async state(): Promise<ReplicaState | undefined> {
    return this.look((input) => readState(input.writer.row(STATE)));
  }

  async adopt(hub: string, actor: Actor, epoch: Epoch, device: DeviceId): Promise<ReplicaState> {
    return this.write((input) => {
      const known = readState(input.writer.row(STATE));
      if (known) return { value: requireSame(known, hub, actor) };
      requireEmpty(input);
      const next: ReplicaState = {
        ...FRESH,
        hub,
        actor,
        epoch,
        device,
      };
      return { value: next, next };
    });
  }

  async query(request: QueryRequest): Promise<QueryAnswer> {
    const { transactions } = this.options.engine;
    const state = await this.required();
    const plan = planFor(transactions, request, requireActor(state));
    if (!mayWrite(plan)) return this.read(request);
    const submitted = await this.submit(request);
    if ('failed' in submitted) return submitted.failed;
    if (submitted.answer) return submitted.answer;
    throw new Refusal(
      'connection_needed',
      'The function runs with rights of its own, so only the hub can run it; the write is in the outbox. Use `submit()`, whose `settled` tells what it answered.',
    );
  }

  async read(request: SubmitRequest): Promise<QueryAnswer> {
    const { engine, view } = this.options;
    const { transactions } = engine;
    const looked: Seen = { rows: [], ranges: [] };
    const state = await this.required();
    const plan = planFor(transactions, { ...request, allows: 'read' }, requireActor(state));
    try {
      const run = await transactions.read((input) => {
        looked.rows.length = 0;
        const writer = view.over(input.writer, looked.rows);
        return transactions.run(plan, { ...input, writer });
      });
      const answer = transactions.answer(plan, run);
      const rows = [...answer.readSet.rows, ...looked.rows];
      return { ...answer, readSet: { ...answer.readSet, rows } };
    } catch (reason) {
      return transactions.refused(plan, reason);
    }
  }

  async submit(request: SubmitRequest): Promise<Submitted | { readonly failed: QueryAnswer }> {
    const { engine, clock } = this.options;
    const { transactions } = engine;
    const state = await this.required();
    const now = Math.max(clock() + state.skew, state.lastNow + 1);
    const actor = requireActor(state);
    const plan = planFor(transactions, { ...request, allows: 'write' }, actor, { now });
    const attempt: Attempt<SubmitOutcome> = (input) => {
      const present = readState(input.writer.row(STATE));
      if (!present) throw noReplica();
      if (present.isLocked)
        throw new Refusal('locked', 'What is stored here is locked: log in again.');
      const replaces = request.replaces === undefined ? undefined : locate(input, request.replaces);
      const at = Math.max(now, present.lastNow + 1);
      const timed = at === now ? plan : { ...plan, now: at };
      return attemptSubmit({ plan: timed, now: at, replaces }, present, input, {
        ...this.options,
        transactions,
      });
    };
    try {
      const run = await transactions.write(attempt);
      const { record, device, run: local } = run.value;
      const answer = local && transactions.answer(plan, { ...run, value: local.attempted });
      if (!record) return { failed: required(answer) };
      await this.options.onSubmitted?.({ device, item: record.item });
      return { id: record.id, device, item: record.item, answer };
    } catch (reason) {
      return { failed: transactions.refused(plan, reason) };
    }
  }

  async outgoing({
    count,
    bytes,
  }: {
    readonly count: number;
    readonly bytes: number;
  }): Promise<readonly PushItem[]> {
    return this.look((input) => {
      const state = readState(input.writer.row(STATE));
      if (!state) return [];
      const first = state.settledSeq + 1;
      const most = Math.max(0, Math.min(count, state.lastSeq - state.settledSeq));
      const addresses = Array.from({ length: most }, (_, i) => outboxAddress(state.era, first + i));
      const items: PushItem[] = [];
      let size = 0;
      // By their keys: what was written a moment ago is at hand, and need not be looked for.
      for (const row of eachElement(addresses, (address) => input.writer.row(address))) {
        if (!row) continue;
        const { item } = readOutboxRow(row);
        size += item.query.length;
        if (items.length > 0 && size > bytes) break;
        items.push(item);
      }
      return items;
    });
  }

  async writes(states?: readonly WriteState[]): Promise<readonly WriteRecord[]> {
    return this.look((input) => {
      const records = recordsIn(input, outboxRange()).map(publicOf);
      return states ? records.filter(({ state }) => states.includes(state)) : records;
    });
  }

  async find(ids: readonly string[]): Promise<readonly WriteRecord[]> {
    return this.look((input) => {
      const places = eachElement(ids, (id) => locate(input, id));
      const addresses = places.flatMap((place) =>
        place ? [outboxAddress(place.era, place.seq)] : [],
      );
      const rows = eachElement(addresses, (address) => input.writer.row(address));
      return rows.flatMap((row) => (row ? [publicOf(readOutboxRow(row))] : []));
    });
  }

  async settle(fence: number, verdicts: readonly Verdict[]): Promise<readonly WriteRecord[]> {
    return this.fenced(fence, (input, state) => {
      const settled: OutboxRecord[] = [];
      const addresses = verdicts.map(({ seq }) => outboxAddress(state.era, seq));
      const rows = eachElement(addresses, (address) => input.writer.row(address));
      verdicts.forEach((verdict, i) => {
        const row = rows[i];
        const record = row && readOutboxRow(row);
        if (!record || record.verdict || record.item.hash !== verdict.hash) return;
        const next = { ...record, verdict, state: verdict.state, predicted: undefined } as const;
        input.writer.put('sync', outboxRow(state.era, next));
        settled.push(next);
      });
      let { settledSeq } = state;
      for (const { item } of settled) if (item.seq === settledSeq + 1) settledSeq = item.seq;
      const outboxSize = Math.max(
        0,
        state.outboxSize - settled.reduce((sum, { size }) => sum + size, 0),
      );
      const value = settled.map(publicOf);
      if (settled.length === 0) return { value };
      // The view knows its last write by its row.
      return {
        value,
        next: { ...state, settledSeq, outboxSize, generation: state.generation + 1 },
      };
    });
  }

  async apply(
    fence: number,
    pulled: Pulled,
    asked?: readonly Pick<ReplicaSet, 'id' | 'query'>[],
  ): Promise<Applied> {
    const host = this.applyHost();
    const { value } = await host.transactions.write((input) =>
      attemptApply({ fence, asked }, pulled, input, host),
    );
    return value;
  }

  /** For all attempts of one change. */
  private applyHost(): ApplyHost {
    const { transactions } = this.options.engine;
    const plans = new Map<string, ReturnType<typeof planFor>>();
    return {
      transactions,
      sha256: this.options.sha256,
      contextOf: (input) => systemContext(input, ROOT_DATABASE, this.options),
      planOf: (record, state) => {
        const known = plans.get(record.id);
        if (known) return known;
        const { query, apiVersion, now, ids } = record.item;
        const request = { query, apiVersion, allows: 'write' } as QueryRequest;
        const given = { now, ids: ids.map(BigInt) };
        const plan = planFor(transactions, request, requireActor(state), given);
        plans.set(record.id, plan);
        return plan;
      },
    };
  }

  async takeFence(): Promise<number> {
    return this.write((input) => {
      const state = requireState(input);
      const fence = state.fence + 1;
      return { value: fence, next: { ...state, fence } };
    });
  }

  async greet(fence: number, { hubTime, epoch, actor }: Welcome, arrived: Micros) {
    return this.fenced(fence, (_, state) => {
      // A clock that was ahead has made times that are to come: they are no floor for what is written now.
      const lastNow = Math.min(state.lastNow, hubTime);
      const skew = hubTime - arrived;
      const next = { ...state, skew, lastNow, actor, epoch: state.epoch ?? epoch };
      return { value: next, next };
    });
  }

  async setSets(wanted: readonly { readonly id: string; readonly query: string }[]) {
    const host = this.applyHost();
    return this.write((input) => {
      const state = requireState(input);
      const known = new Map(state.sets.map((set) => [set.id, set]));
      const sets = wanted.map(({ id, query }): ReplicaSet => {
        const before = known.get(id);
        return before?.query === query ? before : { ...NEW_SET, id, query };
      });
      const kept = sets.flatMap(({ parts }) => parts ?? []);
      const dropped = state.sets
        .filter((set) => !sets.includes(set))
        .flatMap(({ parts }) => parts ?? []);
      const touched = new Touched();
      dropParts(input.writer, dropped, kept, touched);
      // Parts of a pull that wait for the last one are of the sets before.
      dropStaged(input.writer, state);
      const chosen = { ...state, sets, staged: undefined };
      if (touched.rows.size === 0) return { value: chosen, next: chosen };
      const { state: next, announced } = rebasePending(chosen, touched, input, host);
      return { value: next, next, announced };
    });
  }

  async fingerprint(set: ReplicaSet): Promise<readonly string[]> {
    return this.look((input) => fingerprintOfSet(input.writer, set));
  }

  async documentsIn(
    set: ReplicaSet,
    buckets: readonly number[],
  ): Promise<readonly (readonly [...DocumentName, Micros])[]> {
    return this.look((input) => documentsOfSet(input.writer, set, buckets));
  }

  async restore(device: DeviceId, items: readonly PushItem[]): Promise<void> {
    await this.write((input) => {
      const state = requireState(input);
      const isNew = state.lastSeq === 0;
      const missing = items.filter(({ seq }) => isNew || seq > state.lastSeq);
      const [first] = missing;
      const last = missing.at(-1);
      if (!first || !last) return { value: undefined };
      if (!isNew && (device !== state.device || first.seq !== state.lastSeq + 1))
        return { value: undefined };
      for (const item of missing) {
        const record: OutboxRecord = {
          id: `${state.era}.${item.seq}`,
          era: state.era,
          item,
          state: 'local',
          at: item.now - state.skew,
          local: undefined,
          verdict: undefined,
          predicted: undefined,
          replaces: undefined,
          effects: undefined,
          reads: 'all',
          size: 0,
        };
        input.writer.put('sync', outboxRow(state.era, record));
      }
      const before = first.seq - 1;
      const next: ReplicaState = {
        ...state,
        device,
        lastSeq: last.seq,
        lastNow: last.now,
        ...(isNew && { shownSeq: before, settledSeq: before }),
        generation: state.generation + 1,
      };
      return { value: undefined, next };
    });
  }

  async rename(fence: number): Promise<ReplicaState> {
    const host = this.applyHost();
    return this.fenced(fence, (input, state) => {
      const era = state.era + 1;
      const all = recordsIn(input, outboxRange(state.era, 1));
      const pending = all.filter(({ verdict }) => verdict === undefined);
      pending.forEach((record, i) => {
        input.writer.delete('sync', outboxAddress(state.era, record.item.seq).key);
        const content = { ...record.item, seq: i + 1 };
        const item = { ...content, hash: hashOf(content, this.options.sha256) };
        const renamed = { ...record, era, item, state: 'local' } as const;
        input.writer.put('sync', outboxRow(era, renamed));
      });
      const named: ReplicaState = {
        ...state,
        device: this.newDevice(),
        era,
        lastSeq: pending.length,
        shownSeq: 0,
        settledSeq: 0,
      };
      // What was judged under the old id comes with the next pull; until then nothing may stand on it.
      const touched = new Touched();
      for (const record of all)
        if (record.verdict && record.item.seq > state.shownSeq)
          noteEffects(input.writer, record, touched);
      const { state: next, announced } = rebasePending(named, touched, input, host);
      return { value: next, next, announced };
    });
  }

  async reenter(fence: number, epoch: Epoch): Promise<ReplicaState> {
    const host = this.applyHost();
    return this.fenced(fence, (input, state) => {
      const era = state.era + 1;
      const touched = new Touched();
      const offered = recordsIn(input, outboxRange()).filter(
        ({ verdict }) => verdict?.state !== 'refused',
      );
      for (const { era: before, item } of offered)
        input.writer.delete('sync', outboxAddress(before, item.seq).key);
      // Nothing may stand on what was judged and is not in the stored rows yet.
      for (const record of offered)
        if (record.verdict && record.era === state.era && record.item.seq > state.shownSeq)
          noteEffects(input.writer, record, touched);
      offered.forEach((record, i) => {
        const content = { ...record.item, seq: i + 1 };
        const item = { ...content, hash: hashOf(content, this.options.sha256) };
        // What was judged is in the stored rows, or comes back with its new verdict: it is not shown twice.
        const shown = record.verdict && { effects: NO_EFFECTS, reads: NO_READS };
        const again = {
          ...record,
          ...shown,
          era,
          item,
          verdict: undefined,
          state: 'local',
        } as const;
        input.writer.put('sync', outboxRow(era, again));
      });
      dropStaged(input.writer, state);
      const named: ReplicaState = {
        ...state,
        device: this.newDevice(),
        era,
        epoch,
        cursor: undefined,
        staged: undefined,
        lastSeq: offered.length,
        shownSeq: 0,
        settledSeq: 0,
      };
      const { state: next, announced } = rebasePending(named, touched, input, host);
      return { value: next, next, announced };
    });
  }

  async park(fence: number, isParked: boolean): Promise<void> {
    await this.fenced(fence, (input, state) => {
      const from = isParked ? 'local' : 'parked';
      for (const record of recordsIn(input, outboxRange(state.era, state.settledSeq + 1))) {
        if (record.state !== from && !(isParked && record.state === 'pushed')) continue;
        const moved = { ...record, state: isParked ? 'parked' : 'local' } as const;
        input.writer.put('sync', outboxRow(state.era, moved));
      }
      return { value: undefined, next: { ...state, generation: state.generation + 1 } };
    });
  }

  async discard(id: string): Promise<void> {
    const host = this.applyHost();
    await this.write((input) => {
      const state = requireState(input);
      const place = locate(input, id);
      const row = place && input.writer.row(outboxAddress(place.era, place.seq));
      if (!row) throw noSuchWrite(id);
      const { era, seq } = place;
      const record = readOutboxRow(row);
      if (!record.verdict)
        throw new Refusal('bad request', `The write ${id} has no verdict yet: it is on its way.`);
      input.writer.delete('sync', outboxAddress(era, seq).key);
      if (era !== state.era || seq <= state.shownSeq) return { value: undefined };
      // What it did is shown no more, and what stood on it is run again.
      const touched = new Touched();
      noteEffects(input.writer, record, touched);
      const { state: next, announced } = rebasePending(state, touched, input, host);
      return { value: undefined, next, announced };
    });
  }

  async prune(before: Micros): Promise<number> {
    return this.write((input) => {
      const state = requireState(input);
      const old = recordsIn(input, outboxRange()).filter(
        ({ at, verdict, item, era }) =>
          at < before &&
          (verdict?.state === 'confirmed' || verdict?.state === 'amended') &&
          (era < state.era || item.seq <= state.shownSeq),
      );
      for (const { era, item } of old)
        input.writer.delete('sync', outboxAddress(era, item.seq).key);
      return { value: old.length };
    });
  }

  async lock(isLocked: boolean): Promise<void> {
    await this.write((input) => {
      const state = requireState(input);
      return { value: undefined, next: { ...state, isLocked } };
    });
  }

  private newDevice(): DeviceId {
    return hexOfBytes(this.options.random(16));
  }

  private async required(): Promise<ReplicaState> {
    const state = await this.state();
    if (!state) throw noReplica();
    return state;
  }

  private async look<T>(body: (input: AttemptInput) => T): Promise<T> {
    const { value } = await this.options.engine.transactions.read((input) => ({
      value: body(input),
      ts: 0,
      keep: false,
    }));
    return value;
  }

  private async write<T>(body: (input: AttemptInput) => Step<T>): Promise<T> {
    const { value } = await this.options.engine.transactions.write((input) => {
      const { value, next, announced } = body(input);
      if (next) input.writer.put('sync', stateRow(next));
      const ts = Math.max(input.head, this.options.clock()) + 1;
      return { value, ts, keep: true, ...(announced && { announced }) };
    });
    return value;
  }

  private fenced<T>(
    fence: number,
    body: (input: AttemptInput, state: ReplicaState) => Step<T>,
  ): Promise<T> {
    return this.write((input) => body(input, requireFence(input.writer, fence)));
  }
}

const FRESH: Omit<ReplicaState, 'hub' | 'actor' | 'epoch' | 'device'> = {
  era: 1,
  cursor: undefined,
  staged: undefined,
  schema: undefined,
  sets: [],
  lastSeq: 0,
  shownSeq: 0,
  settledSeq: 0,
  skew: 0,
  lastNow: 0,
  outboxSize: 0,
  isLocked: false,
  fence: 0,
  generation: 0,
};

const NEW_SET: Omit<ReplicaSet, 'id' | 'query'> = {
  parts: undefined,
  loaded: 'nothing',
  rows: 0,
  of: undefined,
  error: undefined,
};

function requireSame(known: ReplicaState, hub: string, actor: Actor): ReplicaState {
  if (known.hub === hub && known.actor && isSameIdentity(known.actor, actor)) return known;
  throw new Refusal(
    'forbidden',
    `This database is a copy made at ${known.hub} for another user or database: open one of another name for this one.`,
  );
}

/** A database with a schema of its own is nobody's copy. */
function requireEmpty(input: AttemptInput): void {
  const kinds = [
    NATIVE.collections,
    NATIVE.indexes,
    NATIVE.functions,
    NATIVE.roles,
    NATIVE.databases,
  ];
  const found = eachElement(kinds, (collection) => {
    const prefix: Key = collectionPrefix(ROOT_DATABASE, collection);
    return input.writer.range({
      space: 'documents',
      by: 'key',
      lower: prefix,
      upper: after(prefix),
      reverse: false,
      limit: 1,
      rows: false,
    });
  });
  if (found.every((entries) => entries.length === 0)) return;
  throw new Refusal(
    'forbidden',
    'This database holds data that came from no hub. Open a database of another name for the copy, and bring the data to the hub with `burrow import`.',
  );
}

function requireState(input: AttemptInput): ReplicaState {
  const state = readState(input.writer.row(STATE));
  if (!state) throw noReplica();
  return state;
}

function requireActor({ actor }: ReplicaState): Actor {
  if (!actor) throw noReplica();
  return actor;
}

const NO_READS = { rows: [], ranges: [] };

function recordsIn({ writer }: AttemptInput, range: Range): OutboxRecord[] {
  return writer.range(range).flatMap(({ row }) => (row ? [readOutboxRow(row)] : []));
}

function dropStaged(writer: Writer, { staged }: ReplicaState): void {
  for (let part = 0; part < (staged?.parts ?? 0); part++) writer.delete('sync', stagedKey(part));
}

const noReplica = (): Refusal =>
  new Refusal('bad request', 'This database is in step with no hub: call `db.sync()` first.');

const noSuchWrite = (id: string): Refusal =>
  new Refusal('not found', `There is no write ${id}: it was resolved already, or never made.`);

/** Where a write stands: under its own number, or under another one since the device took another id. */
function locate(input: AttemptInput, id: string): Located | undefined {
  const found = /^(\d+)\.(\d+)$/.exec(id);
  if (!found) return undefined;
  const first = { id, era: Number(found[1]), seq: Number(found[2]) };
  const row = input.writer.row(outboxAddress(first.era, first.seq));
  if (row && readOutboxRow(row).id === id) return first;
  const moved = recordsIn(input, outboxRange()).find((record) => record.id === id);
  return moved && { id, era: moved.era, seq: moved.item.seq };
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('A query that failed has an answer.');
  return value;
}
