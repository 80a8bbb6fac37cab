/**
 * Lets the event loop run the tasks that are queued, then resumes, without the delay that nested timers have. (`scheduler.yield()` would
 * resume before the queued tasks: other replies and timers would have to wait until the whole work is done.)
 */
export const pause = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    const turn = (): void => {
      port1.close();
      resolve();
    };
    port1.addEventListener('message', turn);
    port1.start();
    port2.postMessage(undefined);
  });
