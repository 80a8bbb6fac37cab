/** What a database sends, and what a client is sent, goes on in several turns of the event loop when it is large: others are answered between them. */

/** A piece has so many: 3 ms or less. */
export const TURN_BYTES = 256 * 1024;
export const TURN_ROWS = 1000;

const waiting: (() => void)[] = [];

/** A turn of its own: of several that wait, one goes on in each turn of the event loop. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(admitOne);
  });

function admitOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(admitOne);
}
