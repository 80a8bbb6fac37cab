/** What is done beside queries: indexes are built, garbage is collected. Two processes at it do the work twice, and spoil nothing. */
import { decodeDocumentKey, decodeHistoryKey } from '../../src/codec/key.ts';
import type { CommitNotice } from '../../src/engine/host.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { NATIVE } from '../../src/values/native-kinds.ts';

export interface BackgroundOptions {
  readonly engine: Pick<Engine, 'buildIndexes' | 'collectGarbage'>;
  /** Hears of failures; what was left undone is tried at the next occasion. */
  readonly report: (reason: unknown) => void;
}

const GARBAGE_FIRST_MS = 60_000;
const GARBAGE_SOON_MS = 5_000;
const GARBAGE_EVERY_MS = 3_600_000;

/** What holds rows or entries of others: its end leaves much behind. */
const HOLDERS: readonly number[] = [NATIVE.collections, NATIVE.indexes, NATIVE.databases];

export class Background {
  private readonly options: BackgroundOptions;
  private isClosed = false;
  private areIndexesWanted = false;
  private building: Promise<void> | undefined = undefined;
  private collecting: Promise<void> | undefined = undefined;
  private timer: NodeJS.Timeout | undefined = undefined;
  private isSoon = false;

  constructor(options: BackgroundOptions) {
    this.options = options;
    this.buildIndexes();
    this.planGarbage(GARBAGE_FIRST_MS);
  }

  noteCommit({ rows }: CommitNotice): void {
    for (const { space, key } of rows) {
      if (space === 'documents' && decodeDocumentKey(key).collection === NATIVE.indexes)
        this.buildIndexes();
      // Only what was there before leaves something in the history.
      if (space === 'history' && HOLDERS.includes(decodeHistoryKey(key).collection)) this.noteEnd();
    }
  }

  /** What is unfinished goes on at the next start: it is cut off by closing the store. */
  close(): void {
    this.isClosed = true;
    this.areIndexesWanted = false;
    clearTimeout(this.timer);
  }

  private buildIndexes(): void {
    if (this.isClosed) return;
    this.areIndexesWanted = true;
    this.building ??= this.guarded(async () => {
      while (this.areIndexesWanted) {
        this.areIndexesWanted = false;
        await this.options.engine.buildIndexes();
      }
    }).finally(() => {
      this.building = undefined;
    });
  }

  private noteEnd(): void {
    if (this.isSoon) return;
    this.isSoon = true;
    if (!this.collecting) this.planGarbage(GARBAGE_SOON_MS);
  }

  private planGarbage(ms: number): void {
    clearTimeout(this.timer);
    if (!this.isClosed) this.timer = setTimeout(() => void this.collectGarbage(), ms).unref();
  }

  private async collectGarbage(): Promise<void> {
    this.isSoon = false;
    this.collecting = this.guarded(() => this.options.engine.collectGarbage());
    await this.collecting;
    this.collecting = undefined;
    this.planGarbage(this.isSoon ? GARBAGE_SOON_MS : GARBAGE_EVERY_MS);
  }

  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (reason) {
      if (!this.isClosed) this.options.report(reason);
    }
  }
}
