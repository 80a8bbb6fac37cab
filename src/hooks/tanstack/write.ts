import type { Client, Expr, SubmitOptions } from '../../index.ts';
import { isSynced } from '../core/mutation.ts';

/**
 * Resolves when it is stored here. To a copy it is submitted: the hub judges it later.
 * @throws BurrowError when it changed nothing
 */
export async function write(client: Client, query: Expr, kept: SubmitOptions): Promise<void> {
  if (isSynced(client)) await client.submit(query, kept);
  else await client.query(query);
}
