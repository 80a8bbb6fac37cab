import type { UnlockCall } from '../host/open.ts';
import { queryText } from './queries/query-text.ts';
import { UsageError } from './errors.ts';
import { anyText, isUser } from './read-options.ts';
import type { Arg } from './queries/types/arguments.ts';

/** A login that unlocks a database: the secret of a token or of a key with the role admin or server; or a user with a password. */
export type Login =
  | { readonly secret: string }
  | {
      /** A ref, or a set that contains the user, such as `q.Match(q.Index('users_by_email'), email)`. */
      readonly user: Arg;
      readonly password: string;
      /**
       * In a copy of a hub's database: the secret of a client key of the hub, by which the hub checks the password if it can be reached.
       */
      readonly key?: string;
    };

export function unlockCall(login: Login): UnlockCall {
  const { secret, user, password, key } = Object(login) as {
    readonly secret?: unknown;
    readonly user: Arg;
    readonly password?: unknown;
    readonly key?: string;
  };
  if (typeof secret === 'string') return { secret };
  if (isUser(user) && typeof password === 'string' && anyText.accepts(key ?? ''))
    return { user: queryText(user), password, ...(key !== undefined && { key }) };
  throw new UsageError(
    'db.unlock needs { secret }, { user, password } or { user, password, key }.',
  );
}
