/** Builds indexes in the background, one at a time. A failed build is tried again later. */
import { decodeDocumentKey } from '../src/codec/key.ts';
import type { CommitNotice } from '../src/engine/host.ts';
import { NATIVE } from '../src/values/native-kinds.ts';
import type { DatabaseId } from '../src/values/value.ts';

export interface IndexBuildsOptions {
  /** Builds the indexes of these databases that are not built yet. Undefined: of all databases. */
  readonly build: (databases: ReadonlySet<DatabaseId> | undefined) => Promise<void>;
  /** Receives errors. The next build does what was left undone. */
  readonly report: (reason: unknown) => void;
  /**
   * Calls `body` after `ms`.
   * @returns a function that cancels the call
   */
  readonly after: (ms: number, body: () => void) => () => void;
}

/** The store may be unavailable for a moment, or its disk full. The first retry comes soon; each further one waits twice as long. */
const AGAIN_MS = 5_000;
const AGAIN_MS_MAX = 300_000;

export class IndexBuilds {
  private readonly options: IndexBuildsOptions;
  private wanted: Set<DatabaseId> | 'all' | undefined = undefined;
  private isClosed = false;
  private building: Promise<void> | undefined = undefined;
  private againMs = AGAIN_MS;
  private cancel: () => void = () => undefined;

  constructor(options: IndexBuildsOptions) {
    this.options = options;
  }

  /** Looks for indexes to build in all databases: now, or after the current build. */
  start(): void {
    this.lookIn('all');
  }

  private lookIn(wanted: Set<DatabaseId> | 'all'): void {
    if (this.isClosed) return;
    this.wanted = wanted;
    this.building ??= this.work().finally(() => {
      this.building = undefined;
    });
  }

  /** Call this for commits of this process and of others: another process may end before it has built the index that it created. */
  onCommit({ rows }: CommitNotice): void {
    const changed = new Set<DatabaseId>();
    for (const { space, key } of rows) {
      if (space !== 'documents') continue;
      const { database, collection } = decodeDocumentKey(key);
      if (collection === NATIVE.indexes) changed.add(database);
    }
    if (changed.size === 0 || this.wanted === 'all') return;
    this.lookIn(new Set([...(this.wanted ?? []), ...changed]));
  }

  /** Closing the store interrupts a running build, which continues after the next start. */
  close(): void {
    this.isClosed = true;
    this.wanted = undefined;
    this.cancel();
  }

  private async work(): Promise<void> {
    try {
      while (this.wanted) {
        const { wanted } = this;
        this.wanted = undefined;
        await this.options.build(wanted === 'all' ? undefined : wanted);
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
