let wakes: { readonly waiting: (() => void)[]; readonly port: MessagePort } | undefined;

/** Of Node, where an open channel would keep the process running. */
const { setImmediate: turn } = globalThis as { setImmediate?: (wake: () => void) => void };

/** Gives the event loop a turn: queries that wait go first. */
export const pause = (): Promise<void> =>
  new Promise((resolve) => {
    if (turn) return turn(resolve);
    const { waiting, port } = (wakes ??= openWakes());
    waiting.push(resolve);
    port.postMessage(undefined);
  });

/** One channel for all turns: to make one costs more than the turn. */
function openWakes() {
  const waiting: (() => void)[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener('message', () => waiting.shift()?.());
  port1.start();
  return { waiting, port: port2 };
}
