/** A Node thread with the part of the `Worker` interface that the page's code uses. */
import type { Worker as Thread } from 'node:worker_threads';

class ThreadWorker extends EventTarget {
  private readonly thread: Thread;

  constructor(thread: Thread) {
    super();
    this.thread = thread;
    thread.on('message', (data: unknown) => {
      this.dispatchEvent(new MessageEvent('message', { data }));
    });
    thread.on('error', () => {
      this.dispatchEvent(new Event('error', { cancelable: true }));
    });
    // The thread alone must not keep the process running; its databases do.
    thread.unref();
  }

  postMessage(message: unknown): void {
    this.thread.postMessage(message);
  }

  terminate(): void {
    void this.thread.terminate();
  }
}

/** Lacks only `onerror` and similar properties, which are not used here. */
export const webWorkerOf = (thread: Thread): Worker =>
  new ThreadWorker(thread) as unknown as Worker;
