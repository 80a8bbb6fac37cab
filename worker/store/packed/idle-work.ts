/** What a packed store does while nobody writes: a short log opens fast, and what was left by flushes cut short is deleted. */
import { Refusal } from '../../../src/errors.ts';
import type { PackedStore } from '../../../src/packed/packed-store.ts';

const IDLE_MS = 2_000;
/** Rarely: it reads nothing, but looks through the numbers of all blocks. */
const SWEEP_AFTER_MS = 30_000;

export class IdleWork {
  private readonly packed: Pick<PackedStore, 'rest' | 'sweep'>;
  private readonly idleMs: number;
  private timer: ReturnType<typeof setTimeout> | undefined = undefined;
  private lastWrite = 0;
  private sweepAt: number;
  private isClosed = false;

  constructor(packed: Pick<PackedStore, 'rest' | 'sweep'>, idleMs = IDLE_MS) {
    this.packed = packed;
    this.idleMs = idleMs;
    this.sweepAt = performance.now() + SWEEP_AFTER_MS;
  }

  noteWrite(): void {
    this.lastWrite = performance.now();
    this.timer ??= setTimeout(this.look, this.idleMs);
  }

  /** A flush or a merge failed; it begins again with a later commit. */
  noteFailure(reason: unknown): void {
    this.sweepAt = performance.now() + SWEEP_AFTER_MS;
    // What the browser refuses now, it refuses whoever writes, too.
    if (this.isClosed || (reason instanceof Refusal && reason.code !== 'local_data_loss')) return;
    reportError(reason);
  }

  async rest(): Promise<void> {
    if (!this.isClosed)
      await this.packed.rest().catch((reason: unknown) => this.noteFailure(reason));
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  private readonly look = (): void => {
    const rested = performance.now() - this.lastWrite;
    this.timer = undefined;
    if (rested < this.idleMs) this.timer = setTimeout(this.look, this.idleMs - rested);
    else void this.work();
  };

  private async work(): Promise<void> {
    await this.rest();
    if (this.isClosed || performance.now() < this.sweepAt) return;
    this.sweepAt = Infinity;
    await this.packed.sweep().catch((reason: unknown) => this.noteFailure(reason));
  }
}
