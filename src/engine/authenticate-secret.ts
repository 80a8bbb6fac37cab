/** Who is behind a secret, outside any query. */
import type { Credential, EngineOptions } from './api.ts';
import { authenticate, credentialOf } from './authenticate.ts';
import { lambdasOf, schemasOf } from './stored-lambdas.ts';
import type { Transactor } from './transact.ts';

export async function authenticateSecret(
  transactor: Transactor,
  secret: string,
  { clock, sha256, rootSecret }: Pick<EngineOptions, 'clock' | 'sha256' | 'rootSecret'>,
): Promise<Credential | undefined> {
  const now = clock();
  const { value } = await transactor.read(({ writer, head }) => {
    const snapshot = Math.max(now, head);
    const schema = schemasOf(writer);
    // Nobody's lambdas are run to know who asks.
    const lambdas = lambdasOf({});
    const caller = authenticate(
      { reader: writer, snapshot, schema, lambdas, sha256, rootSecret },
      secret,
    );
    return { value: caller && credentialOf(caller), ts: snapshot, keep: false };
  });
  return value;
}
