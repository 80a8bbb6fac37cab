/** What one tab appends to the log, to the others: then they need not read it. Hints only: what gets lost is found in the log. */
import type { Appended } from '../../../src/packed/tree/tree.ts';

interface LogMessage extends Appended {
  /** Of the database that has the log, and its format. */
  readonly of: string;
}

/** More is read from the log by whoever needs it. */
const BROADCAST_BYTES_MAX = 256 * 1024;

export class LogChannel {
  private readonly channel: BroadcastChannel | undefined;
  private readonly of: () => string;

  /** @param of names the database that is open, and the format of its log */
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
