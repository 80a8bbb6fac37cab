/** Who is behind a secret, outside any query. */
import type { DatabaseId } from '../values/value.ts';
import type { Credential, EngineOptions } from './api.ts';
import { parseStoredLambda } from './attempt.ts';
import { authenticate, credentialOf } from './authenticate.ts';
import { Schema } from './schema.ts';
import type { Transactor } from './transact.ts';

export async function authenticateSecret(
  transactor: Transactor,
  secret: string,
  { clock, sha256, rootSecret }: Pick<EngineOptions, 'clock' | 'sha256' | 'rootSecret'>,
): Promise<Credential | undefined> {
  const now = clock();
  const { value } = await transactor.read(({ writer, head }) => {
    const snapshot = Math.max(now, head);
    const schema = (database: DatabaseId) =>
      new Schema(database, writer, writer.base, parseStoredLambda);
    const lambdas = {
      parse: parseStoredLambda,
      effectOf: () => 'pure' as const,
      apply: () => null,
    };
    const caller = authenticate(
      { reader: writer, snapshot, schema, lambdas, sha256, rootSecret },
      secret,
    );
    return { value: caller && credentialOf(caller), ts: snapshot, keep: false };
  });
  return value;
}
