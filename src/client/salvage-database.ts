import type { SalvageResult } from '../host/salvage.ts';
import { optional, text, type Option } from '../host/options.ts';
import { salvageStored } from './connection/stored-calls.ts';
import { OPTIONS } from './options.ts';
import { readOptions } from './read-options.ts';
import { checkName, storedName } from './stored-names.ts';

export interface SalvageOptions {
  /** Name of the database that is made: none may be stored under it. */
  readonly into: string;
  /** Whose both are, as it was opened. */
  readonly identity?: string;
  readonly worker?: () => Worker;
}

const SALVAGE_OPTIONS = {
  worker: OPTIONS.worker,
  identity: OPTIONS.identity,
  into: optional(text),
} satisfies Record<keyof SalvageOptions, Option<unknown>>;

/**
 * Brings all that can be read of a damaged database into a new one, and changes nothing of the damaged one. For `local_data_loss`: when a
 * database does not open, or `verify()` names what is damaged. No tab may have it open meanwhile. Documents that were changed or deleted
 * shortly before may come out in an older version. Query log, exports and files of documents are not among it. Collections
 * whose name was damaged have another, `salvaged_1024`; other schema objects that were damaged are missing.
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
