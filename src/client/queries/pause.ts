/**
 * Lets the event loop run the tasks that are queued, then resumes, without the delay that nested timers have. (`scheduler.yield()` would
 * resume before the queued tasks: other replies and timers would have to wait until the whole work is done.) Vercel's edge runtime has no
 * `MessageChannel`.
 */
export const pause = (): Promise<void> =>
  new Promise((resolve) => {
    if (!globalThis.MessageChannel) {
      setTimeout(resolve);
      return;
    }
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(0);
  });
