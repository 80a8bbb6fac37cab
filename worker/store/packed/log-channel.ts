/**
 * Sends what one tab appends to the log to the other tabs, so that they need not read it. Only hints: a tab that misses a message reads
 * the log.
 */
import type { Appended } from '../../../src/packed/tree/tree.ts';

interface LogMessage extends Appended {
  /** Identifies the database that the log belongs to, and the log's format. */
  readonly of: string;
}

/** Larger appends are not sent: other tabs read them from the log when they need them. */
const BROADCAST_BYTES_MAX = 256 * 1024;

export class LogChannel {
  private readonly channel: BroadcastChannel | undefined;
  private readonly of: () => string;

  /** @param of returns the identifier of the open database and the format of its log */
  constructor(name: string, of: () => string, onAppended: (appended: Appended) => void) {
    this.of = of;
    if (typeof BroadcastChannel === 'undefined') return;
    this.channel = new BroadcastChannel(`burrow:log:${name}`);
    this.channel.addEventListener('message', ({ data }: MessageEvent<LogMessage>) => {
      if (data.of === of()) onAppended(data);
    });
  }

  broadcast({ first, parts }: Appended): void {
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    if (bytes > BROADCAST_BYTES_MAX) return;
    this.channel?.postMessage({ of: this.of(), first, parts } satisfies LogMessage);
  }

  close(): void {
    this.channel?.close();
  }
}
