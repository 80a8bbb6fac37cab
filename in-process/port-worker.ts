/**
 * A worker that runs where its page does: the same messages, through a channel, so that values are cloned and calls take turns as they
 * do between threads.
 */

/** What it does with the messages of its page. Returns how it is ended. */
export type Serve = (port: MessagePort) => () => void;

/** All of `Worker` that a page uses. */
class PortWorker extends EventTarget {
  private readonly near: MessagePort;
  private readonly far: MessagePort;
  private readonly end: () => void;

  constructor(serve: Serve) {
    super();
    const { port1, port2 } = new MessageChannel();
    this.near = port1;
    this.far = port2;
    port1.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      this.dispatchEvent(new MessageEvent('message', { data }));
    });
    this.end = serve(port2);
    port1.start();
    port2.start();
  }

  postMessage(message: unknown, transfer: Transferable[] = []): void {
    this.near.postMessage(message, transfer);
  }

  terminate(): void {
    this.end();
    this.near.close();
    this.far.close();
  }
}

/** `onerror` and its like are all that it lacks, and nobody here sets them. */
export const startPortWorker = (serve: Serve): Worker => new PortWorker(serve) as unknown as Worker;
