/** Builds indexes in the background, in one tab at a time. */
import { decodeDocumentKey } from '../../src/codec/key.ts';
import type { CommitNotice } from '../../src/engine/host.ts';
import type { BuildProgress, Engine } from '../../src/engine/engine.ts';
import { inTurn } from '../tabs/web-locks.ts';
import { NATIVE } from '../../src/values/native-kinds.ts';

export interface IndexBuilderOptions {
  readonly engine: Pick<Engine, 'buildIndexes'>;
  readonly name: string;
  readonly onProgress: (progress: BuildProgress) => void;
  /** Hears of failures; what was left undone is tried at the next occasion. */
  readonly report: (reason: unknown) => void;
}

export class IndexBuilder {
  private readonly options: IndexBuilderOptions;
  private isWanted = false;
  private working: Promise<void> | undefined = undefined;

  constructor(options: IndexBuilderOptions) {
    this.options = options;
  }

  /** Looks for indexes to build now, or again when it is at it. */
  start(): void {
    this.isWanted = true;
    this.working ??= this.work().finally(() => {
      this.working = undefined;
    });
  }

  /** A commit, here or in another tab (which may end before it has built what it made). */
  noteCommit({ rows }: CommitNotice): void {
    const isIndex = rows.some(
      ({ space, key }) =>
        space === 'documents' && decodeDocumentKey(key).collection === NATIVE.indexes,
    );
    if (isIndex) this.start();
  }

  private async work(): Promise<void> {
    const { engine, name, onProgress } = this.options;
    try {
      while (this.isWanted) {
        this.isWanted = false;
        await inTurn(`burrow:build:${name}`, () => engine.buildIndexes(onProgress));
      }
    } catch (reason) {
      this.options.report(reason);
    }
  }
}
