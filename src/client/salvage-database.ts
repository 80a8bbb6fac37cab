import type { SalvageResult } from '../host/salvage.ts';
import { optional, text, type Option } from '../host/options.ts';
import { salvageStored } from './connection/stored-calls.ts';
import { OPTIONS } from './options.ts';
import { readOptions } from './read-options.ts';
import { checkName, storedName } from './stored-names.ts';

export interface SalvageOptions {
  /** Name of the new database. No database may be stored under this name yet. */
  readonly into: string;
  /** The identity that the damaged database was opened with. The new database is created with the same identity. */
  readonly identity?: string;
  readonly worker?: () => Worker;
}

const SALVAGE_OPTIONS = {
  worker: OPTIONS.worker,
  identity: OPTIONS.identity,
  into: optional(text),
} satisfies Record<keyof SalvageOptions, Option<unknown>>;

/**
 * Copies everything that can be read of a damaged database into a new one; the damaged one is not changed. Use it after `local_data_loss`:
 * when a database cannot be opened, or `verify()` reports damage. No tab may have the database open during the call. Documents that were
 * changed or deleted recently may come out in an older version. The query log, exports, and files of documents are not copied. A collection
 * whose name was damaged gets another name, like `salvaged_1024`; other damaged schema objects are missing.
 * @throws UsageError when an option is invalid or does not exist
 * @throws NotFound when nothing is stored under the name
 * @throws UnavailableError when something is stored under the name `into`
 * @example
 * const { rows, damaged } = await salvageDatabase('field-notes', { into: 'field-notes-2' });
 * console.log(rows, 'rows', damaged);
 * const rescued = await openDatabase('field-notes-2');
 */
export async function salvageDatabase(
  name: string,
  options: SalvageOptions,
): Promise<SalvageResult> {
  checkName(name);
  const { into, identity, worker } = readOptions(SALVAGE_OPTIONS, options);
  checkName(into);
  const [from, to] = await Promise.all([storedName(name, identity), storedName(into, identity)]);
  return salvageStored(from, to, worker);
}
