/** What a database sends is read in several turns of the event loop when it is large: between them, others are answered. */

/** One turn takes so many: 3 ms or less. */
export const TURN_BYTES = 256 * 1024;
export const TURN_ROWS = 1000;

export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
