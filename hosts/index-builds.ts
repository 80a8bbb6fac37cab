/** Builds of indexes in the background, one at a time; one that has failed is begun again after a while. */
import { decodeDocumentKey } from '../src/codec/key.ts';
import type { CommitNotice } from '../src/engine/host.ts';
import { NATIVE } from '../src/values/native-kinds.ts';

export interface IndexBuildsOptions {
  /** Builds all indexes that are not built. */
  readonly build: () => Promise<void>;
  /** Receives errors; what was left undone is done by the next build. */
  readonly report: (reason: unknown) => void;
  /** Calls `body` after so many ms. Returns the way to cancel it. */
  readonly after: (ms: number, body: () => void) => () => void;
}

/** The store may be away for a moment, or its disk full: soon at first, then each time after twice as long. */
const AGAIN_MS = 5_000;
const AGAIN_MS_MAX = 300_000;

export class IndexBuilds {
  private readonly options: IndexBuildsOptions;
  private isWanted = false;
  private isClosed = false;
  private building: Promise<void> | undefined = undefined;
  private againMs = AGAIN_MS;
  private cancel: () => void = () => undefined;

  constructor(options: IndexBuildsOptions) {
    this.options = options;
  }

  /** Looks for indexes to build: now, or again after the build under way. */
  start(): void {
    if (this.isClosed) return;
    this.isWanted = true;
    this.building ??= this.work().finally(() => {
      this.building = undefined;
    });
  }

  /** A commit of this process, or of another, which may end before it has built what it created. */
  onCommit({ rows }: CommitNotice): void {
    const isIndex = rows.some(
      ({ space, key }) =>
        space === 'documents' && decodeDocumentKey(key).collection === NATIVE.indexes,
    );
    if (isIndex) this.start();
  }

  /** A build under way is cut off by closing the store, and goes on after the next start. */
  close(): void {
    this.isClosed = true;
    this.isWanted = false;
    this.cancel();
  }

  private async work(): Promise<void> {
    try {
      while (this.isWanted) {
        this.isWanted = false;
        await this.options.build();
        this.againMs = AGAIN_MS;
      }
    } catch (reason) {
      if (this.isClosed) return;
      this.options.report(reason);
      this.cancel();
      this.cancel = this.options.after(this.againMs, () => this.start());
      this.againMs = Math.min(2 * this.againMs, AGAIN_MS_MAX);
    }
  }
}
