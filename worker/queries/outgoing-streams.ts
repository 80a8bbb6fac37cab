/** Response bodies that are sent to the page part by part. Each pull sends one part, so a slow reader causes no buffering here. */
import type { WorkerMessage } from '../../src/host/api.ts';
import { refusalOf } from './replies.ts';

type Part = string | Uint8Array;

export class OutgoingStreams {
  private readonly emit: (message: WorkerMessage) => void;
  private readonly open = new Map<number, AsyncIterator<Part>>();
  private last = 0;

  constructor(emit: (message: WorkerMessage) => void) {
    this.emit = emit;
  }

  /** Returns the number with which the page pulls the parts. */
  add(parts: AsyncIterable<Part>): number {
    this.last++;
    this.open.set(this.last, parts[Symbol.asyncIterator]());
    return this.last;
  }

  async pull(stream: number): Promise<void> {
    const parts = this.open.get(stream);
    if (!parts) return;
    try {
      const { done, value } = await parts.next();
      if (!this.open.has(stream)) return;
      if (done) this.open.delete(stream);
      this.emit({ type: 'part', stream, part: done ? undefined : value });
    } catch (reason) {
      this.open.delete(stream);
      this.emit({ type: 'broken', stream, refusal: refusalOf(reason) });
    }
  }

  async cancel(stream: number): Promise<void> {
    const parts = this.open.get(stream);
    this.open.delete(stream);
    await parts?.return?.();
  }

  async close(): Promise<void> {
    await Promise.all([...this.open.keys()].map((stream) => this.cancel(stream)));
  }
}
