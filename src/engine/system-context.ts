/** The engine at its own work (index builds, checks), in the place of a caller. */
import { applyLambda } from '../query/evaluate.ts';
import { effectOf } from '../query/lambda-value.ts';
import type { DatabaseId } from '../values/value.ts';
import type { EngineOptions } from './api.ts';
import { parseStoredLambda } from './attempt.ts';
import type { Caller } from './authenticate.ts';
import { Budget } from './budget.ts';
import { builtinPermissions } from './permissions.ts';
import type { EngineContext, Lambdas } from './context.ts';
import { createIds, RecordedInputs } from './inputs.ts';
import { Meters } from './meters.ts';
import { Schema } from './schema.ts';
import { EngineSession } from './session.ts';
import type { AttemptInput } from './attempts.ts';

const SYSTEM: Omit<Caller, 'database'> = {
  label: { kind: 'root', id: '0' },
  path: [],
  role: 'admin',
  roles: [],
  document: undefined,
  identity: undefined,
  isToken: false,
};

/** A step of background work may evaluate this long, ms: bindings of many documents in one step. */
const STEP_TIMEOUT_MS = 60_000;

export function systemContext(
  { writer, head, answers }: AttemptInput,
  database: DatabaseId,
  { clock, random, sha256 }: Pick<EngineOptions, 'clock' | 'random' | 'sha256'>,
): EngineContext {
  const snapshot = Math.max(clock(), head);
  const schemas = new Map<DatabaseId, Schema>();
  const session: { current?: EngineSession } = {};
  const lambdas: Lambdas = {
    parse: parseStoredLambda,
    effectOf,
    apply: (lambda, argument, limit, time = 'present') => {
      if (!session.current)
        throw new Error('a function value was applied before its session began');
      return applyLambda(lambda, argument, session.current, { allows: limit, time });
    },
  };
  const context: EngineContext = {
    reader: writer,
    writer,
    database,
    snapshot,
    commitTs: snapshot + 1,
    apiVersion: '4',
    caller: { ...SYSTEM, database },
    permissions: { may: () => false },
    inputs: new RecordedInputs(createIds(clock, random), { random, sha256 }).begin(answers),
    lambdas,
    meters: new Meters(),
    schema: (id) => {
      const known = schemas.get(id) ?? new Schema(id, writer, writer.base, parseStoredLambda);
      schemas.set(id, known);
      return known;
    },
    rewritten: new Set(),
  };
  context.permissions = builtinPermissions(context, 'admin');
  session.current = new EngineSession(context, new Budget(clock, snapshot, STEP_TIMEOUT_MS));
  return context;
}
