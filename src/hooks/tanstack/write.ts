import type { Client, Expr, SubmitOptions } from '../../index.ts';
import { isSynced } from '../core/mutation.ts';

/**
 * Executes a write, and resolves when it is stored on this device. On a copy, the write is submitted, and the hub judges it later.
 * @throws BurrowError when the write fails
 */
export async function write(client: Client, query: Expr, kept: SubmitOptions): Promise<void> {
  if (isSynced(client)) await client.submit(query, kept);
  else await client.query(query);
}
