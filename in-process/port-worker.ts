/**
 * A worker in the thread of its page. It exchanges the same messages through a channel, so values are cloned and calls are asynchronous,
 * as between threads.
 */

/** Handles the messages of the page. Returns a function that ends the worker. */
export type Serve = (port: MessagePort) => () => void;

/** The part of `Worker` that a page uses. The page opens its channel to the worker with the same class of channels. */
class PortWorker extends EventTarget {
  readonly MessageChannel: typeof MessageChannel;
  private readonly near: MessagePort;
  private readonly far: MessagePort;
  private readonly end: () => void;

  constructor(serve: Serve, Channel: typeof MessageChannel) {
    super();
    this.MessageChannel = Channel;
    const { port1, port2 } = new Channel();
    this.near = port1;
    this.far = port2;
    port1.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      // Not `MessageEvent`, which not every runtime has.
      this.dispatchEvent(Object.assign(new Event('message'), { data }));
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

/** Lacks only `onerror` and similar properties, which are not used here. */
export const startPortWorker = (serve: Serve, Channel = MessageChannel): Worker =>
  new PortWorker(serve, Channel) as unknown as Worker;
