interface YieldingScheduler {
  yield?(): Promise<void>;
}

/** Gives the event loop a turn, and comes back without the delay that nested timers have. */
export function pause(): Promise<void> {
  const { scheduler } = globalThis as { scheduler?: YieldingScheduler };
  if (scheduler?.yield) return scheduler.yield();
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    const turn = (): void => {
      port1.close();
      resolve();
    };
    port1.addEventListener('message', turn);
    port1.start();
    port2.postMessage(undefined);
  });
}
