/** Splits large results and responses over several turns of the event loop, so that other callers are served in between. */

/** Size of one piece: it takes 3 ms or less. */
export const TURN_BYTES = 256 * 1024;
export const TURN_ROWS = 1000;

const waiting: (() => void)[] = [];

/** Resolves in a later turn of the event loop. Of several callers that wait, only one continues in each turn. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(admitOne);
  });

function admitOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(admitOne);
}
