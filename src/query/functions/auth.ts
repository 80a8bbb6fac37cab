/** Identity: log in and out, who is asking. Spec: functions 1.6, auth-and-http 2.2. */
import { boolean, nothing, object, param, refOrSet, string } from '../casts.ts';
import { COVERED } from '../costs.ts';
import { define } from '../define.ts';
import type { FunctionRow } from '../function-row.ts';

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

/** Deprecated name. */
const identity = define('read', { identity: none }, COVERED, (_, { session, path }) =>
  session.auth.identity(path),
);
const currentIdentity = define(
  'read',
  { current_identity: none },
  COVERED,
  (_, { session, path }) => session.auth.identity(path),
  { since: '4' },
);

/** Deprecated name. */
const hasIdentity = define('read', { has_identity: none }, COVERED, (_, { session }) =>
  session.auth.hasIdentity(),
);
const hasCurrentIdentity = define(
  'read',
  { has_current_identity: none },
  COVERED,
  (_, { session }) => session.auth.hasIdentity(),
  { since: '4' },
);

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
  identity,
  currentIdentity,
  hasIdentity,
  hasCurrentIdentity,
  currentToken,
  hasCurrentToken,
];
