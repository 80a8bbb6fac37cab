/** Writes of documents, schema objects and history. Spec: functions 1.5. */
import type { ObjectValue, PendingTime, Micros } from '../../values/value.ts';
import {
  action,
  databaseRef,
  nameOrRef,
  object,
  optional,
  param,
  readTime,
  ref,
} from '../casts.ts';
import { WRITE, writing } from '../costs.ts';
import { define } from '../define.ts';
import type { FunctionRow } from '../function-row.ts';
import type { ApiVersion } from '../session.ts';
import type { NativeName } from '../../values/native-kinds.ts';

const NO_PARAMS: ObjectValue = new Map();
const params = optional(object, 'Object');
const document = param(ref, 'Ref');

const create = define(
  'write',
  { create: param(nameOrRef, 'String or Ref'), params },
  (args, context) => writing(args.params, context),
  ({ create: target, params: given = NO_PARAMS }, { session, path, time }) =>
    session.writes.create(target, given, path, 'create', time),
);

const update = define(
  'write',
  { update: document, params },
  (args, context) => writing(args.params, context),
  (args, { session, path, time }) =>
    session.writes.update(args.update, args.params ?? NO_PARAMS, path, time),
);

const replace = define(
  'write',
  { replace: document, params },
  (args, context) => writing(args.params, context),
  (args, { session, path, time }) =>
    session.writes.replace(args.replace, args.params ?? NO_PARAMS, path, time),
);

const remove = define('write', { delete: document }, WRITE, (args, { session, path }) =>
  session.writes.delete(args.delete, path),
);

const when = param<Micros | PendingTime>(readTime, 'Time');
const what = param(action, 'String');

const insertVersion = define(
  'write',
  { insert: document, ts: when, action: what, params },
  (args, context) => writing(args.params, context),
  (args, { session, path, time }) =>
    session.writes.insert({ ...args, ref: args.insert }, path, time),
);

const removeVersion = define(
  'write',
  { remove: document, ts: when, action: what },
  WRITE,
  (args, { session, path, time }) =>
    session.writes.remove({ ...args, ref: args.remove }, path, time),
);

/** `create` in a native collection. The form's own key is in the positions of faults. */
const createIn = (key: string, native: NativeName, since: ApiVersion = '2.0'): FunctionRow =>
  define(
    'write',
    { [key]: param(object, 'Object') },
    (args, context) => writing(args[key], context),
    (args, { session, path, time }) => {
      const collection = session.names.native(native, undefined);
      return session.writes.create(collection, args[key] ?? NO_PARAMS, path, key, time);
    },
    { since },
  );

const moveDatabase = define(
  'write',
  { move_database: param(databaseRef, 'Database Ref'), to: param(databaseRef, 'Database Ref') },
  WRITE,
  (args, { session, path }) => session.writes.moveDatabase(args.move_database, args.to, path),
);

export const writeRows: readonly FunctionRow[] = [
  create,
  update,
  replace,
  remove,
  insertVersion,
  removeVersion,
  createIn('create_collection', 'collections'),
  createIn('create_class', 'collections'),
  createIn('create_database', 'databases'),
  createIn('create_index', 'indexes'),
  createIn('create_key', 'keys'),
  createIn('create_function', 'functions'),
  createIn('create_role', 'roles'),
  createIn('create_access_provider', 'access_providers', '4'),
  moveDatabase,
];
