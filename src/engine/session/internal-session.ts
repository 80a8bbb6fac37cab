/** Sessions without a query text: for work of the engine itself (index builds, checks), and for the caller of a device at a hub. */
import type { DatabaseId } from '../../values/value.ts';
import type { EngineOptions } from '../context/host.ts';
import { rootCaller } from '../context/caller.ts';
import { Budget, NO_WORK_LIMITS } from '../context/budget.ts';
import { builtinPermissions } from '../access/permissions.ts';
import type { ContextParts, EngineContext, PermissionsIn } from '../context/context.ts';
import { createIds, RecordedInputs } from './recorded-inputs.ts';
import { Meters } from '../context/meters.ts';
import { EngineSession } from './engine-session.ts';
import { schemasOver } from '../catalog/schema.ts';
import type { BodyInput } from '../transactions/execution.ts';

/** How long one step of background work may be evaluated, ms. A step may evaluate the bindings of many documents. */
const STEP_TIMEOUT_MS = 60_000;

type InternalHost = Pick<EngineOptions, 'clock' | 'random' | 'sha256'>;

export function systemContext(
  { writer, head, answers }: BodyInput,
  database: DatabaseId,
  host: InternalHost,
  caller = rootCaller(database),
): EngineContext {
  const snapshot = Math.max(host.clock(), head);
  const schema = schemasOver(writer, writer.base);
  const parts = { reader: writer, writer, snapshot, caller, schema };
  return internalSession(parts, adminPermissions, answers, host, STEP_TIMEOUT_MS).context;
}

const adminPermissions: PermissionsIn = (context) => builtinPermissions(context, 'admin');

type InternalParts = Pick<ContextParts, 'reader' | 'writer' | 'snapshot' | 'caller' | 'schema'>;

export function internalSession(
  { reader, writer, snapshot, caller, schema }: InternalParts,
  permissionsIn: PermissionsIn,
  answers: BodyInput['answers'],
  { clock, random, sha256 }: InternalHost,
  timeoutMs: number,
): EngineSession {
  const inputs = new RecordedInputs(createIds(clock, random), { random, sha256 });
  const budget = new Budget(clock, snapshot, timeoutMs, NO_WORK_LIMITS);
  const parts: ContextParts = {
    reader,
    writer,
    snapshot,
    now: undefined,
    commitTs: snapshot + 1,
    apiVersion: '4',
    caller,
    inputs: inputs.begin(answers),
    meters: new Meters(budget),
    schema,
    rewritten: new Set(),
    atEnd: [],
  };
  return new EngineSession(parts, permissionsIn, budget);
}
