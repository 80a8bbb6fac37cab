/** Has garbage collected in the background, in one tab at a time: a while after opening, every hour, and soon after something was deleted whole. */
import { decodeHistoryKey } from '../../src/codec/key.ts';
import type { CommitNotice } from '../../src/engine/host.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { unlessElsewhere } from '../tabs/web-locks.ts';
import { NATIVE } from '../../src/values/native-kinds.ts';

export interface HousekeeperOptions {
  readonly engine: Pick<Engine, 'collectGarbage'>;
  readonly name: string;
  /** Calls `body` after so many ms. Returns the way to stop it. */
  readonly after: (ms: number, body: () => void) => () => void;
  /** Hears of failures; what was left undone is done at the next occasion. */
  readonly report: (reason: unknown) => void;
}

const FIRST_MS = 60_000;
const SOON_MS = 5000;
const EVERY_MS = 3_600_000;

/** What holds rows or entries of others: its end leaves much behind. */
const HOLDERS: readonly number[] = [NATIVE.collections, NATIVE.indexes, NATIVE.databases];

export class Housekeeper {
  private readonly options: HousekeeperOptions;
  private stop: () => void = () => undefined;
  private isWorking = false;
  private isWantedSoon = false;
  private isClosed = false;

  constructor(options: HousekeeperOptions) {
    this.options = options;
    this.plan(FIRST_MS);
  }

  /** A commit, here or in another tab. */
  noteCommit({ rows }: CommitNotice): void {
    // Only what was there before leaves something in the history.
    const isEnd = rows.some(
      ({ space, key }) => space === 'history' && HOLDERS.includes(decodeHistoryKey(key).collection),
    );
    if (!isEnd || this.isWantedSoon) return;
    this.isWantedSoon = true;
    if (!this.isWorking) this.plan(SOON_MS);
  }

  close(): void {
    this.isClosed = true;
    this.stop();
  }

  private plan(ms: number): void {
    this.stop();
    if (!this.isClosed) this.stop = this.options.after(ms, () => void this.work());
  }

  private async work(): Promise<void> {
    const { engine, name, report } = this.options;
    this.isWorking = true;
    this.isWantedSoon = false;
    try {
      await unlessElsewhere(`burrow:garbage:${name}`, () => engine.collectGarbage());
    } catch (reason) {
      report(reason);
    }
    this.isWorking = false;
    this.plan(this.isWantedSoon ? SOON_MS : EVERY_MS);
  }
}
