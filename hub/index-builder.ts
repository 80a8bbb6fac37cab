/** Builds indexes in the background. Two processes at it do the work twice, and spoil nothing. */
import { decodeDocumentKey } from '../src/codec/key.ts';
import type { CommitNotice, Engine } from '../src/engine/api.ts';
import { NATIVE } from '../src/values/value.ts';

export interface IndexBuilderOptions {
  readonly engine: Pick<Engine, 'buildIndexes'>;
  /** Hears of failures; what was left undone is tried at the next occasion. */
  readonly report: (reason: unknown) => void;
}

export class IndexBuilder {
  private readonly options: IndexBuilderOptions;
  private isWanted = false;
  private isClosed = false;
  private working: Promise<void> | undefined = undefined;

  constructor(options: IndexBuilderOptions) {
    this.options = options;
  }

  /** Looks for indexes to build now, or again when it is at it. */
  start(): void {
    if (this.isClosed) return;
    this.isWanted = true;
    this.working ??= this.work().finally(() => {
      this.working = undefined;
    });
  }

  noteCommit({ rows }: CommitNotice): void {
    const isIndex = rows.some(
      ({ space, key }) =>
        space === 'documents' && decodeDocumentKey(key).collection === NATIVE.indexes,
    );
    if (isIndex) this.start();
  }

  /** What is unfinished goes on at the next start: it is cut off by closing the store. */
  close(): void {
    this.isClosed = true;
    this.isWanted = false;
  }

  private async work(): Promise<void> {
    try {
      while (this.isWanted) {
        this.isWanted = false;
        await this.options.engine.buildIndexes();
      }
    } catch (reason) {
      if (!this.isClosed) this.options.report(reason);
    }
  }
}
