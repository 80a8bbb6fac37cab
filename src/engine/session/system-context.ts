/** The engine at its own work (index builds, checks), in the place of a caller. */
import type { DatabaseId } from '../../values/value.ts';
import type { EngineOptions } from '../context/host.ts';
import type { Caller } from '../context/caller.ts';
import { Budget } from '../context/budget.ts';
import { builtinPermissions } from '../access/permissions.ts';
import type { EngineContext } from '../context/context.ts';
import { createIds, RecordedInputs } from './recorded-inputs.ts';
import { Meters } from '../context/meters.ts';
import { EngineSession } from './engine-session.ts';
import { lambdasOf, schemasOf } from './stored-lambdas.ts';
import type { BodyInput } from '../transactions/execution.ts';

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
  { writer, head, answers }: BodyInput,
  database: DatabaseId,
  { clock, random, sha256 }: Pick<EngineOptions, 'clock' | 'random' | 'sha256'>,
  caller: Caller = { ...SYSTEM, database },
): EngineContext {
  const snapshot = Math.max(clock(), head);
  const session: { current?: EngineSession } = {};
  const lambdas = lambdasOf(session);
  const context: EngineContext = {
    reader: writer,
    writer,
    database,
    snapshot,
    commitTs: snapshot + 1,
    apiVersion: '4',
    caller,
    permissions: { may: () => false },
    inputs: new RecordedInputs(createIds(clock, random), { random, sha256 }).begin(answers),
    lambdas,
    meters: new Meters(),
    schema: schemasOf(writer),
    rewritten: new Set(),
  };
  context.permissions = builtinPermissions(context, 'admin');
  session.current = new EngineSession(context, new Budget(clock, snapshot, STEP_TIMEOUT_MS));
  return context;
}
