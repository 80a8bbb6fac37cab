import type { UnlockCall } from '../host/open.ts';
import type { OptionType } from '../host/options.ts';
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

/** Members of both forms of a login; those that are given have these types. */
type Parts = Extract<Login, { user: Arg }> & { readonly secret?: string };

/** @internal */
export const loginOption: OptionType<Login> = {
  expected: '{ secret }, { user, password } or { user, password, key }',
  accepts: (given): given is Login => {
    const { secret, user, password, key } = Object(given) as Partial<Record<keyof Parts, unknown>>;
    return (
      typeof secret === 'string' ||
      (isUser(user) && typeof password === 'string' && anyText.accepts(key ?? ''))
    );
  },
  isSecret: true,
};

export function unlockCall(login: Login): UnlockCall {
  if (!loginOption.accepts(login)) throw new UsageError(`db.unlock needs ${loginOption.expected}.`);
  const { secret, user, password, key } = login as Parts;
  if (typeof secret === 'string') return { secret };
  return { user: queryText(user), password, ...(key !== undefined && { key }) };
}
