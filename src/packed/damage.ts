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
    if (!(cause instanceof Malformed)) throw cause;
    throw damaged(what(), cause.message, { cause });
  }
}
