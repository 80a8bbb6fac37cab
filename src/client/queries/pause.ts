/**
 * Gives the event loop a turn, and comes back behind the tasks that wait, without the delay that nested timers have.
 * (`scheduler.yield()` comes back before them: other replies and timers would wait until the whole work is done.)
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
