/** The medium of one tab of the simulation. Calls stop at the scheduler, some fail, and faults can be planted. */
import { joinBytes } from '../../../codec/join-bytes.ts';
import type { RandomSource } from '../../../engine/testing/random-source.ts';
import { readPart } from '../../codec/log-parts.ts';
import { readRecord, type LogRecord } from '../../codec/log-record.ts';
import { TableIndex } from '../../codec/table-index.ts';
import { isEntryFamily } from '../../families.ts';
import { IDS_PER_CLAIM, type IdRange } from '../../manifest.ts';
import type { LogPart, MediumSnapshot, Medium, StoredBlock } from '../../medium.ts';
import type { MediumData } from '../memory-medium.ts';
import type { Crossings } from './crossings.ts';
import {
  hasDeletions,
  isIndexOrBlock,
  withoutBloom,
  withoutDeletions,
  type PlantedFault,
} from './faults.ts';
import { must } from './must.ts';
import type { Actor, Scheduler } from './scheduler.ts';

export interface SimWorld {
  readonly data: MediumData;
  readonly scheduler: Scheduler;
  readonly random: RandomSource;
  readonly crossings: Crossings;
  readonly fault: PlantedFault | undefined;
  /** The number of the last flip in the log. */
  flipped: number;
  /** True: no result and no connection is lost any more. */
  isCalm: boolean;
}

/** Thrown when the result of an append is lost. */
export class StorageFailed extends Error {
  readonly kind: LogRecord['kind'];
  readonly isStored: boolean;

  constructor(kind: LogRecord['kind'], isStored: boolean) {
    super(`the answer to a ${kind} was lost`);
    this.kind = kind;
    this.isStored = isStored;
  }
}

/** Probability that the result of an append is lost. */
const FAILS = 0.02;
/** Probability that the connection is lost before an append is committed. */
const LOSES_CONNECTION = 0.2;
/** Maximum number of steps to reconnect. */
const RECONNECTS_MAX = 12;

export class SimMedium implements Medium {
  /** The last step of this tab's maintenance since its last claim. */
  phase: 'idle' | 'claimed' | 'put' | 'flipped' = 'idle';
  /** The number of the last flip when this tab made its last claim. */
  private putAt = 0;
  hasThawed = false;
  private readonly world: SimWorld;
  private readonly actor: Actor;
  private late: readonly StoredBlock[] = [];
  private reads = 0;

  constructor(world: SimWorld, actor: Actor) {
    this.world = world;
    this.actor = actor;
  }

  async read(...[after, ranges]: Parameters<Medium['read']>): Promise<MediumSnapshot> {
    const { data, crossings, fault } = this.world;
    this.reads += 1;
    const found = await this.call('read', () => data.read(after, ranges.map(this.placed)));
    const first = found.log[0]?.number;
    if (after !== undefined && after > 0 && first !== undefined && first > after + 1)
      crossings.note('a tab slept while the log was cut');
    const asked = ranges.reduce((sum, each) => sum + each.last - each.first + 1, 0);
    const isWhole = found.blocks.flat().length === asked;
    if (!isWhole) crossings.note('a reader found a block missing');
    const blocks = found.blocks.map((each) => each.map((block) => this.unplaced(block, ranges)));
    const log = this.cached(after, found.log);
    if (fault === 'adjacent blocks are exchanged') return { log, blocks: blocks.map(mixedUp) };
    return { log, blocks };
  }

  async append(...[parts, expected]: Parameters<Medium['append']>): Promise<boolean> {
    const { data, fault } = this.world;
    const record = recordOf(parts);
    if (record.kind === 'flip' && fault === 'the log is cut before the flip')
      await this.call('cut', () => data.trim(flushedOf(record), []));
    const isAdded = await this.call(`append ${record.kind}`, () =>
      this.add(record, parts, expected),
    );
    if (record.kind === 'flip' && this.late.length > 0) {
      const { late } = this;
      this.late = [];
      await this.call('put', () => data.putBlocks(late));
    }
    this.recordAppended(record, isAdded);
    return isAdded;
  }

  /**
   * The transaction starts at one stop. What `make` awaits ends in the same step of the scheduler, except a read of
   * blocks, which also ends the transaction. Instead of committing, the transaction may lose its connection. After
   * reconnecting, another tab may have taken the number.
   */
  async appendAfter(...[after, make]: Parameters<Medium['appendAfter']>) {
    const { data, scheduler, crossings, fault } = this.world;
    for (;;) {
      await scheduler.stop(this.actor, 'append commit asked');
      const { log } = data.read(after, []);
      if (log.length > 0) crossings.note('a commit found another before it');
      const expected = data.lastNumber + 1;
      const { reads } = this;
      const parts = await make(this.cached(after, log));
      if (!parts || this.reads !== reads) return undefined;
      const record = recordOf(parts);
      if (this.losesConnection()) {
        const later = await this.afterReconnecting(expected);
        if (later === 'free') continue;
        if (later === 'cut') throw new StorageFailed(record.kind, false);
        crossings.note(`a ${record.kind} lost its connection, and another tab came first`);
        const isNumbered = fault === 'a claim that another tab preceded has the number 0';
        return isNumbered && record.kind === 'claim' ? 0 : undefined;
      }
      const outcome = this.failing(`append ${record.kind}`, () =>
        this.add(record, parts, expected),
      );
      await scheduler.stop(this.actor, `append ${record.kind} done`);
      const isAdded = outcome();
      this.recordAppended(record, isAdded);
      return isAdded ? expected : undefined;
    }
  }

  async putBlocks(blocks: readonly StoredBlock[]): Promise<void> {
    const { data, fault, crossings } = this.world;
    if (this.hasThawed && this.putAt < this.world.flipped)
      crossings.note('a thawed tab put blocks after another flip');
    if (blocks.some(({ bytes }) => hasDeletions(bytes)))
      crossings.note('deletions were flushed above older rows');
    for (const { id } of blocks) must(id >= IDS_PER_CLAIM, `block ${id} is of no claim`);
    if (fault === 'the manifest is stored before the blocks') this.late = [...this.late, ...blocks];
    else await this.call('put', () => data.putBlocks(blocks.map((block) => this.faulty(block))));
    this.phase = 'put';
  }

  async trim(logThrough: number, blocks: readonly IdRange[]): Promise<void> {
    await this.call('trim', () => this.world.data.trim(logThrough, blocks.map(this.placed)));
    this.phase = 'idle';
  }

  async close(): Promise<void> {
    await this.call('close', () => undefined);
  }

  private async call<T>(kind: string, body: () => T): Promise<T> {
    const { scheduler } = this.world;
    const outcome = await scheduler.call(this.actor, kind, () => this.failing(kind, body));
    return outcome();
  }

  /** Executes the call. Returns a function that gives its result, or throws if the result is lost. */
  private failing<T>(kind: string, body: () => T): () => T {
    const { random, crossings, isCalm } = this.world;
    const appended = APPENDED.find((each) => kind === `append ${each}`);
    const fails = appended !== undefined && !isCalm && random.chance(FAILS);
    const arrives = random.chance(0.5);
    if (!fails) {
      const value = body();
      return () => value;
    }
    const isStored = arrives && body() === true;
    return () => {
      crossings.note(`a ${appended} failed and had ${isStored ? '' : 'not '}arrived`);
      throw new StorageFailed(appended, isStored);
    };
  }

  private losesConnection(): boolean {
    const { isCalm, random } = this.world;
    return !isCalm && random.chance(LOSES_CONNECTION);
  }

  /** Simulates a reconnect. Returns who has the number afterwards. */
  private async afterReconnecting(number: number): Promise<'free' | 'taken' | 'cut'> {
    const { data, scheduler, random } = this.world;
    const stops = 1 + random.below(RECONNECTS_MAX);
    for (let at = 0; at < stops; at += 1) await scheduler.stop(this.actor, 'reconnect');
    if (data.lastNumber < number) return 'free';
    return data.log.some((part) => part.number === number) ? 'taken' : 'cut';
  }

  private cached(after: number | undefined, log: readonly LogPart[]): readonly LogPart[] {
    const { fault, random } = this.world;
    const isCached = fault === 'the log is cached' && after !== undefined && after > 0;
    return isCached && random.chance(0.5) ? [] : log;
  }

  private recordAppended(record: LogRecord, isAdded: boolean): void {
    const { crossings } = this.world;
    if (!isAdded) crossings.note(`a ${record.kind} found its number taken`);
    if (!isAdded && this.hasThawed && record.kind === 'commit')
      crossings.note('a thawed tab found its commit refused');
    this.hasThawed = false;
    this.recordPhase(record, isAdded);
  }

  private add(record: LogRecord, parts: readonly Uint8Array[], expected: number): boolean {
    const { data, fault } = this.world;
    if (record.kind === 'flip' && fault === 'a flip replaces the commit with its number') {
      data.log = data.log.filter(
        ({ number }) => number < expected || number >= expected + parts.length,
      );
      data.log.push(...parts.map((bytes, i) => ({ number: expected + i, bytes })));
      data.log.sort((a, b) => a.number - b.number);
      data.lastNumber = Math.max(data.lastNumber, expected + parts.length - 1);
      return true;
    }
    const number = fault === 'the number is not checked' ? data.lastNumber + 1 : expected;
    const isAdded = data.append(parts, number);
    if (isAdded && record.kind === 'flip') this.world.flipped = data.lastNumber;
    return isAdded;
  }

  private recordPhase(record: LogRecord, isAdded: boolean): void {
    const { kind } = record;
    if (!isAdded || kind === 'commit') return;
    if (kind === 'flip' && record.manifest.retired.length > 0)
      this.world.crossings.note('tables were merged');
    if (kind === 'claim') {
      if (this.phase === 'put')
        this.world.crossings.note('a flush or merge was overtaken before its flip');
      this.phase = 'claimed';
      this.putAt = this.world.flipped;
    } else this.phase = 'flipped';
  }

  private faulty(block: StoredBlock): StoredBlock {
    const { fault } = this.world;
    const kind = isIndexOrBlock(block.bytes);
    const placed = this.placedBlock(block);
    if (kind === 'index' && fault === faultOfFilter(block.bytes))
      return { ...placed, bytes: withoutBloom(block.bytes) };
    if (fault === 'deletions are dropped too early' && kind === 'block')
      return { ...placed, bytes: withoutDeletions(block.bytes) };
    return placed;
  }

  /** With the fault `ids of blocks are used twice`, claims share ids. */
  private readonly placed = <R extends { readonly first: number; readonly last: number }>(
    range: R,
  ): R => ({
    ...range,
    first: this.idOf(range.first),
    last: this.idOf(range.last),
  });

  private placedBlock({ id, bytes }: StoredBlock): StoredBlock {
    return { id: this.idOf(id), bytes };
  }

  private unplaced(
    { id, bytes }: StoredBlock,
    ranges: readonly { readonly first: number; readonly last: number }[],
  ): StoredBlock {
    const range = ranges.find((each) => id >= this.idOf(each.first) && id <= this.idOf(each.last));
    return { id: range ? id + range.first - this.idOf(range.first) : id, bytes };
  }

  private idOf(id: number): number {
    if (this.world.fault !== 'ids of blocks are used twice') return id;
    const perClaim = 2 ** 20;
    return (Math.floor(id / perClaim) % 3) * perClaim + (id % perClaim);
  }
}

const APPENDED: readonly LogRecord['kind'][] = ['commit', 'claim', 'flip'];

/** Exchanges the bytes of the first two blocks. */
function mixedUp(blocks: readonly StoredBlock[]): readonly StoredBlock[] {
  const [first, second, ...rest] = blocks;
  if (!first || !second) return blocks;
  return [{ ...first, bytes: second.bytes }, { ...second, bytes: first.bytes }, ...rest];
}

const faultOfFilter = (index: Uint8Array): PlantedFault =>
  isEntryFamily(new TableIndex(index).family)
    ? 'the filter of terms is wrong'
    : 'the Bloom filter is wrong';

export const recordOf = (parts: readonly Uint8Array[]): LogRecord =>
  readRecord(joinBytes(parts.map((part) => readPart(part).piece)));

const flushedOf = (record: LogRecord): number =>
  record.kind === 'flip' ? record.manifest.flushed : 0;
