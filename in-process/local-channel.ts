/** A channel whose ports stay within their thread. */

/** One end of the channel. It has the part of `MessagePort` that page and worker use. */
class LocalPort extends EventTarget {
  other: LocalPort | undefined = undefined;

  /** @param transfer ports. They pass as they are, so a message with ports is not cloned */
  postMessage(message: unknown, transfer: readonly unknown[] = []): void {
    const data = transfer.length === 0 ? structuredClone(message) : message;
    const event = Object.assign(new Event('message'), { data });
    queueMicrotask(() => this.other?.dispatchEvent(event));
  }

  start(): void {
    // Messages do not wait: a port has its listener before the other end is used.
  }

  close(): void {
    if (this.other) this.other.other = undefined;
    this.other = undefined;
  }
}

class Channel {
  readonly port1 = new LocalPort();
  readonly port2 = new LocalPort();

  constructor() {
    this.port1.other = this.port2;
    this.port2.other = this.port1;
  }
}

/**
 * Used in place of the platform's class by code that runs in all runtimes: Cloudflare Workers cannot transfer the ports of that class, and
 * Vercel's edge runtime has neither the class nor `MessageEvent`.
 */
export const LocalChannel = Channel as unknown as typeof MessageChannel;
