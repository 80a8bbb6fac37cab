/**
 * Evaluates a pull at one snapshot: the changes in the sets of the device since its cursor, the schema that the sets need, and the next
 * pages of incomplete sets. All decisions use the present rights.
 */
import type { BodyInput, BodyResult } from '../../../engine/transactions.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { eachElement } from '../../../query/collect-needs.ts';
import type { DatabaseId } from '../../../values/value.ts';
import type { Pull, Pulled } from '../../protocol/messages.ts';
import { actorOf } from '../rights/caller-facts.ts';
import type { DeviceRequest } from '../rights/device-caller.ts';
import { rightsContext } from '../rights/rights-context.ts';
import type { Scope } from '../rights/scope.ts';
import { verdictsAbove } from '../rows/verdict-rows.ts';
import { resolveRequest, setAnswerOf, type ResolvedRequest } from '../sets/requested-sets.ts';
import { countFor } from '../sets/set-count.ts';
import { catchUp } from './catch-up.ts';
import { nextToken } from './next-token.ts';
import { documentsFor } from './pulled-documents.ts';
import type { PullContext, PullHost } from './pull-context.ts';
import { sharedRightsOf, type SharedRights } from './shared-rights.ts';
import { schemaFor } from './schema-snapshot.ts';
import { timeSlice } from './time-slice.ts';

export interface PullOutcome {
  readonly pulled: Pulled;
  readonly database: DatabaseId;
  readonly sets: readonly ResolvedRequest[];
  /** The scope before the pull, and the extended scope to be stored. */
  readonly before: Scope | undefined;
  readonly scope: Scope;
  readonly sharedRights: SharedRights | undefined;
}

/** @throws Suspended, SyncRefused */
export function pull(
  message: Pull,
  request: DeviceRequest,
  input: BodyInput,
  host: PullHost,
): BodyResult<PullOutcome> {
  const context = contextOf(message, request, input, host);
  const { reader, caller, database, record, scope: before } = context;
  const caughtUp = catchUp(context);
  const documents = documentsFor(context, caughtUp, timeSlice(host.clock, SYNC_LIMITS.pageMicros));
  const { puts, leaves, sets } = documents;
  const schema = schemaFor(reader, caller, sets, host.sha256);
  const scope = context.extendedScope();
  const { isUnsure } = documents;
  const { token, mustCompare } = nextToken(context, { caughtUp, isUnsure, scope }, host);
  const { lastSeq } = record;
  const settled = Math.max(message.settled, record.forgotten);
  const pulled: Pulled = {
    epoch: message.epoch,
    cursor: caughtUp.until,
    token,
    after: message.token,
    more: caughtUp.until < input.head,
    lastSeq,
    verdicts: verdictsAbove(reader, database, message.device, { settled, lastSeq }),
    actor: actorOf(caller),
    schema: schema.version === message.schema ? undefined : schema,
    puts,
    leaves,
    sets: sets.map((set, i) => setAnswerOf(set, countFor(context, context.sets[i]))),
    check: mustCompare,
    ...(mustCompare && caughtUp.since === undefined && { skipped: true }),
  };
  const sharedRights = sharedRightsOf(context, sets, scope);
  return { value: { pulled, database, sets, before, scope, sharedRights } };
}

function contextOf(
  message: Pull,
  request: DeviceRequest,
  input: BodyInput,
  host: PullHost,
): PullContext {
  const context = rightsContext(message, request, input, host);
  const sets = eachElement(message.sets, (set) => resolveRequest(context, set));
  const maxBytes = Math.min(message.maxBytes, SYNC_LIMITS.pullBytes);
  return { ...context, message: { ...message, maxBytes }, input, sets, recent: host.recent };
}
