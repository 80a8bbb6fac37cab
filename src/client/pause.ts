interface YieldingScheduler {
  yield?(): Promise<void>;
}

/** Gives the event loop a turn, and comes back without the delay that nested timers have. */
export function pause(): Promise<void> {
  const { scheduler } = globalThis as { scheduler?: YieldingScheduler };
  if (scheduler?.yield) return scheduler.yield();
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
