/** Gives the event loop a turn: queries that wait go first. */
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
