/** Authenticates a secret outside any query. */
import type { Credential, EngineOptions } from '../context/host.ts';
import type { BodyInput } from '../transactions/execution.ts';
import { authenticate, authenticationContext, credentialOf } from '../access/authenticate.ts';
import type { Caller } from '../context/caller.ts';
import { isAuthorized } from '../access/caller-roles.ts';
import { schemasOver } from '../catalog/schema.ts';
import { systemContext } from './internal-session.ts';
import type { Transactor } from '../transactions/transactor.ts';

export type CallerHost = Pick<
  EngineOptions,
  'clock' | 'random' | 'sha256' | 'rootSecret' | 'accessTokens' | 'ownDocument'
>;

export async function authenticateSecret(
  transactor: Transactor,
  secret: string,
  host: CallerHost,
): Promise<Credential | undefined> {
  const now = host.clock();
  const { value } = await transactor.read((input) => {
    const snapshot = Math.max(now, input.head);
    const caller = callerOf(input, snapshot, secret, host);
    return { value: caller && credentialOf(input.writer, caller) };
  });
  return value;
}

export function callerOf(
  input: BodyInput,
  snapshot: number,
  secret: string,
  host: CallerHost,
): Caller | undefined {
  const { writer, answers } = input;
  const store = { reader: writer, snapshot, schema: schemasOver(writer, writer.base) };
  const caller = authenticate(authenticationContext(store, host, answers), secret);
  if (!caller?.grant) return caller;
  return isAuthorized(systemContext(input, caller.database, host, caller), caller)
    ? caller
    : undefined;
}
