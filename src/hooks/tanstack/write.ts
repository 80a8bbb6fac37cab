import type { Client, Expr, SubmitOptions, SyncClient } from '../../index.ts';

const isSynced = (client: Client): client is SyncClient => 'submit' in client;

/**
 * Resolves when it is stored here. To a copy it is submitted: the hub judges it later.
 * @throws BurrowError when it changed nothing
 */
export async function write(client: Client, query: Expr, kept: SubmitOptions): Promise<void> {
  if (isSynced(client)) await client.submit(query, kept);
  else await client.query(query);
}
