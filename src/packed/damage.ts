/** Errors for stored bytes that are damaged. */
import { Refusal } from '../errors.ts';
import { Malformed } from './codec/byte-reader.ts';

/** @param what the damaged part, with its number */
export const damaged = (what: string, how: string, options?: ErrorOptions): Refusal =>
  new Refusal(
    'local_data_loss',
    `The stored data is damaged: ${what} (${how}). What it held cannot be read. Restore a backup, or copy the rest with salvageDatabase().`,
    options,
  );

/** Returns the result of `read`. @throws Refusal that names the damaged part when `read` throws `Malformed` */
export function readingOf<T>(what: () => string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw damageOf(cause, what());
  }
}

/** Turns `Malformed` into a refusal that names the damaged part. Returns other errors as they are. */
export const damageOf = (cause: unknown, what: string): unknown =>
  cause instanceof Malformed ? damaged(what, cause.message, { cause }) : cause;
