/** Identity functions: log in, log out, and who the caller is. Spec: functions 1.6, auth-and-http 2.2. */
import { boolean, nothing, object, param, refOrSet, string } from '../casts.ts';
import { COVERED } from '../costs.ts';
import { define } from '../define.ts';
import type { FunctionRow } from '../function-row.ts';
import type { ApiVersion } from '../session.ts';

const login = define(
  'write',
  { login: param(refOrSet, 'RefOrSet'), params: param(object, 'Object') },
  COVERED,
  ({ login: target, params }, { session, path, time }) =>
    session.auth.login(target, params, path, time),
);

const logout = define('write', { logout: param(boolean, 'Boolean') }, COVERED, (args, context) =>
  context.session.auth.logout(args.logout),
);

const identify = define(
  'read',
  { identify: param(refOrSet, 'RefOrSet'), password: param(string, 'String') },
  COVERED,
  (args, context) => context.session.auth.identify(args.identify, args.password, context.path),
);

const none = param(nothing, 'Null');

const identity = (key: string, since: ApiVersion): FunctionRow =>
  define('read', { [key]: none }, COVERED, (_, { session, path }) => session.auth.identity(path), {
    since,
  });

const hasIdentity = (key: string, since: ApiVersion): FunctionRow =>
  define('read', { [key]: none }, COVERED, (_, { session }) => session.auth.hasIdentity(), {
    since,
  });

const currentToken = define(
  'read',
  { current_token: none },
  COVERED,
  (_, { session, path }) => session.auth.token(path),
  { since: '4' },
);
const hasCurrentToken = define(
  'pure',
  { has_current_token: none },
  COVERED,
  (_, { session }) => session.auth.hasToken(),
  { since: '4' },
);

export const authRows: readonly FunctionRow[] = [
  login,
  logout,
  identify,
  identity('identity', '2.0'),
  identity('current_identity', '4'),
  hasIdentity('has_identity', '2.0'),
  hasIdentity('has_current_identity', '4'),
  currentToken,
  hasCurrentToken,
];
