let wakes: { readonly waiting: (() => void)[]; readonly port: MessagePort } | undefined;

/** `setImmediate` of Node. Node uses it because an open message channel would keep the process running. */
const { setImmediate: turn } = globalThis as { setImmediate?: (wake: () => void) => void };

/** Yields to the event loop, so that queries whose messages are waiting run first. */
export const pause = (): Promise<void> =>
  new Promise((resolve) => {
    if (turn) return turn(resolve);
    const { waiting, port } = (wakes ??= openWakes());
    waiting.push(resolve);
    port.postMessage(undefined);
  });

/** All pauses share one channel: creating a channel costs more than the pause. */
function openWakes() {
  const waiting: (() => void)[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener('message', () => waiting.shift()?.());
  port1.start();
  return { waiting, port: port2 };
}
