/** A session for tests that read nothing: an empty database, in which only the names of native collections exist. */
import { QueryFailure, type Fault } from '../../errors.ts';
import { renderValue } from '../../codec/wire.ts';
import { Ref, UnresolvedRef } from '../../values/value.ts';
import type { Value } from '../../values/value.ts';
import { evaluate } from '../evaluate.ts';
import type { EvaluateOptions } from '../evaluation.ts';
import { MemoryBudget } from '../memory-budget.ts';
import { parseQuery } from '../parse.ts';
import { isAtLeast, type ApiVersion, type Names, type WriteSession } from '../session.ts';
import { NATIVE, NATIVE_KINDS } from '../../values/native-kinds.ts';

/** 2024-01-01T00:00:00Z */
export const SNAPSHOT = 1_704_067_200_000_000;

const nameOfNative = (id: bigint): string | undefined =>
  Object.entries(NATIVE).find(([, number]) => BigInt(number) === id)?.[0];

const refuse = (): never => {
  throw new Error('a pure query reads nothing');
};

export interface PureSession extends WriteSession {
  readonly steps: number;
  readonly work: number;
}

/** Names of native collections and of documents in them. */
function namesIn(apiVersion: ApiVersion): Names {
  const collectionKey = isAtLeast(apiVersion, '2.7') ? 'collection' : 'class';
  const refToWire: Names['refToWire'] = (ref) => {
    const native = ref.collection === NATIVE.collections ? nameOfNative(ref.id) : undefined;
    return native === undefined
      ? `{"id":"${ref.id}","${collectionKey}":{"@ref":{"id":"${nameOfNative(BigInt(ref.collection))}"}}}`
      : `{"id":"${native}"}`;
  };
  return {
    database: 0,
    ofAnswer: { refToWire },
    ref: (kind, name) => {
      const wire = `{"id":"${name}","${collectionKey}":{"@ref":{"id":"${kind}"}}}`;
      return new UnresolvedRef(NATIVE_KINDS[kind].singular, name, wire);
    },
    native: (name) => new Ref(0, NATIVE.collections, BigInt(NATIVE[name])),
    refToWire,
    inVersion: namesIn,
  };
}

export function pureSession(
  apiVersion: ApiVersion = '4',
  more: Partial<WriteSession> = {},
): PureSession {
  let steps = 0;
  let work = 0;
  const spend = (units: number): void => {
    work += units;
  };
  const memory = new MemoryBudget({ spend: more.spend ?? spend });
  return {
    get steps() {
      return steps;
    },
    get work() {
      return work;
    },
    snapshot: SNAPSHOT,
    seenAt: (ts) => (typeof ts === 'number' && ts < SNAPSHOT ? ts : 'present'),
    pendingTs: SNAPSHOT + 1,
    apiVersion,
    names: namesIn(apiVersion),
    self: () => undefined,
    memory,
    charge: (count) => {
      steps += count;
    },
    spend,
    get: refuse,
    exists: refuse,
    paginate: refuse,
    elements: refuse,
    setContains: refuse,
    requireIndex: refuse,
    shapeOf: () => ({ reversed: [false], history: false }),
    functionBody: refuse,
    newId: refuse,
    auth: {
      keyFromSecret: refuse,
      identify: refuse,
      identity: refuse,
      hasIdentity: () => false,
      token: refuse,
      hasToken: () => false,
      login: refuse,
      logout: refuse,
    },
    writes: {
      create: refuse,
      update: refuse,
      replace: refuse,
      delete: refuse,
      insert: refuse,
      remove: refuse,
      moveDatabase: refuse,
    },
    ...more,
  };
}

export type Outcome = { readonly value: Value } | { readonly faults: readonly Fault[] };

/** Parses and evaluates a query. It is JSON text, or a value that `JSON.stringify` converts to it. */
export function run(
  query: unknown,
  session: WriteSession = pureSession(),
  options: EvaluateOptions = {},
): Outcome {
  const text = typeof query === 'string' ? query : JSON.stringify(query);
  try {
    return { value: evaluate(parseQuery(text, session.apiVersion), session, options) };
  } catch (failure) {
    if (!(failure instanceof QueryFailure)) throw failure;
    return { faults: failure.faults };
  }
}

/** The wire text of the result, or the faults as `code at position`. */
export function shown(query: unknown, session: WriteSession = pureSession()): unknown {
  const outcome = run(query, session);
  if ('faults' in outcome) {
    return outcome.faults.map(({ code, position }) => `${code} at ${JSON.stringify(position)}`);
  }
  const { names, apiVersion, snapshot } = session;
  return renderValue(outcome.value, { names, apiVersion, pendingTs: snapshot });
}
