/** A thread of Node with what the code of the page uses of a `Worker`. */
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
    // The process goes on for its databases, not for this.
    thread.unref();
  }

  postMessage(message: unknown): void {
    this.thread.postMessage(message);
  }

  terminate(): void {
    void this.thread.terminate();
  }
}

/** `onerror` and its like are all that it lacks, and nobody here sets them. */
export const webWorkerOf = (thread: Thread): Worker =>
  new ThreadWorker(thread) as unknown as Worker;
