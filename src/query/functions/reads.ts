/** Reads of documents and pages. Spec: functions 1.4, sets-and-pages 5. */
import { fail } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import { asArray, isKind, isObject, Ref, UnresolvedRef } from '../../values/value.ts';
import type { Micros, PendingTime, SetValue, Value } from '../../values/value.ts';
import {
  boolean,
  integer,
  optional,
  param,
  positionAt,
  readTimeOrDigits,
  refOrSet,
  refuseUnresolved,
  string,
  wrongType,
} from '../casts.ts';
import { READ } from '../costs.ts';
import { define, type ReadContext } from '../define.ts';
import type { ArgumentPath, Cast, FunctionRow } from '../function-row.ts';
import type { PageOptions, ReadTime } from '../session.ts';

const ts = optional(readTimeOrDigits, 'Time');

/** `ts` of the form takes precedence over an enclosing `at`. */
const timeOf = (given: Micros | PendingTime | undefined, context: ReadContext): ReadTime =>
  given === undefined ? context.time : context.session.seenAt(given);

const get = define('read', { get: param(refOrSet, 'RefOrSet'), ts }, READ, (args, context) =>
  context.session.get(args.get, timeOf(args.ts, context), context.path),
);

/** `exists` also accepts a ref to something that does not exist. */
const anyRefOrSet: Cast<Ref | SetValue | UnresolvedRef> = (value, where) =>
  value instanceof Ref || value instanceof UnresolvedRef || isKind(value, 'set')
    ? value
    : wrongType('Ref or Set', value, where);

const exists = define(
  'read',
  { exists: param(anyRefOrSet, 'RefOrSet'), ts },
  READ,
  (args, context) =>
    args.exists instanceof UnresolvedRef
      ? false
      : context.session.exists(args.exists, timeOf(args.ts, context), context.path),
);

const keyFromSecret = define(
  'read',
  { key_from_secret: param(string, 'String') },
  READ,
  (args, context) => context.session.auth.keyFromSecret(args.key_from_secret, context.path),
);

type Cursor = NonNullable<PageOptions['cursor']>;

/** A cursor is compared with the entries of the set, and a ref to something that does not exist cannot be compared. */
function refuseUnresolvedIn(value: Value, where: ArgumentPath): void {
  for (const each of asArray(value)) {
    if (each instanceof UnresolvedRef) refuseUnresolved(each, where);
  }
}

const cursorOn =
  (side: Cursor['side']): Cast<Cursor> =>
  (value, where) => {
    refuseUnresolvedIn(value, where);
    return { side, value, steps: [side] };
  };

/** `{"after":c}` or `{"before":c}` as a value. Null means no cursor. */
const cursorObject: Cast<Cursor | undefined> = (value, where) => {
  if (value === null) return undefined;
  if (isObject(value) && value.size === 1) {
    const [[side, inner] = []] = value;
    if ((side === 'after' || side === 'before') && inner !== undefined) {
      refuseUnresolvedIn(inner, { ...where, steps: [side] });
      return { side, value: inner, steps: ['cursor', side] };
    }
  }
  return fail(
    'invalid argument',
    positionAt(where),
    "Invalid cursor object. Expected an object with either 'before' or 'after' key in it.",
  );
};

const options = {
  size: optional(integer, 'Integer'),
  ts,
  events: optional(boolean, 'Boolean'),
  sources: optional(boolean, 'Boolean'),
} as const;

interface PageArguments {
  readonly paginate: Ref | SetValue;
  readonly size: number | bigint | undefined;
  readonly ts: Micros | PendingTime | undefined;
  readonly events: boolean | undefined;
  readonly sources: boolean | undefined;
}

function page(args: PageArguments, cursor: Cursor | undefined, context: ReadContext): Value {
  const size = Number(args.size ?? LIMITS.pageSizeDefault);
  return context.session.paginate(
    args.paginate,
    {
      size: Math.min(size, LIMITS.pageSizeMax),
      time: timeOf(args.ts, context),
      cursor,
      events: args.events ?? false,
      sources: args.sources ?? false,
    },
    context.path,
  );
}

const source = param(refOrSet, 'RefOrSet');

const paginate = define(
  'read',
  { paginate: source, after: optional(cursorOn('after'), 'Cursor'), ...options },
  READ,
  (args, context) => page(args, args.after, context),
);

const paginateBefore = define(
  'read',
  { paginate: source, before: param(cursorOn('before'), 'Cursor'), ...options },
  READ,
  (args, context) => page(args, args.before, context),
);

const paginateCursor = define(
  'read',
  { paginate: source, cursor: param(cursorObject, 'Object or Null'), ...options },
  READ,
  (args, context) => page(args, args.cursor, context),
);

export const readRows: readonly FunctionRow[] = [
  get,
  exists,
  keyFromSecret,
  paginate,
  paginateBefore,
  paginateCursor,
];
