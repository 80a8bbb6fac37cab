/** Builds of indexes in the background, one at a time. */
import { decodeDocumentKey } from '../src/codec/key.ts';
import type { CommitNotice } from '../src/engine/host.ts';
import { NATIVE } from '../src/values/native-kinds.ts';

export interface IndexBuildsOptions {
  /** Builds all indexes that are not built. */
  readonly build: () => Promise<void>;
  /** Receives errors; what was left undone is done by the next build. */
  readonly report: (reason: unknown) => void;
}

export class IndexBuilds {
  private readonly options: IndexBuildsOptions;
  private isWanted = false;
  private isClosed = false;
  private building: Promise<void> | undefined = undefined;

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
  noteCommit({ rows }: CommitNotice): void {
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
  }

  private async work(): Promise<void> {
    try {
      while (this.isWanted) {
        this.isWanted = false;
        await this.options.build();
      }
    } catch (reason) {
      if (!this.isClosed) this.options.report(reason);
    }
  }
}
