/** Stored bytes that are not what was written. */
import { Refusal } from '../errors.ts';
import { Malformed } from './codec/byte-reader.ts';

/** @param what is damaged, with its number */
export const damaged = (what: string, how: string, options?: ErrorOptions): Refusal =>
  new Refusal(
    'local_data_loss',
    `The stored data is damaged: ${what} (${how}). What it held cannot be read. Restore a backup, or delete the database with destroy().`,
    options,
  );

/** What `read` returns. @throws Refusal that names what was read, when that is malformed */
export function readingOf<T>(what: () => string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw damageOf(cause, what());
  }
}

/** What reading of it threw, as a refusal that names it when it was malformed. */
export const damageOf = (cause: unknown, what: string): unknown =>
  cause instanceof Malformed ? damaged(what, cause.message, { cause }) : cause;
