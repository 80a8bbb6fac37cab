/**
 * Applies a pull: stores what the hub has confirmed, removes the effects of writes with a verdict from the view, and executes pending
 * writes again if the changes affect them. This is one commit, so no intermediate state is visible.
 */
import { filesIn } from '../../../codec/file-names.ts';
import type { BodyInput, BodyResult } from '../../../engine/transactions.ts';
import type { EngineContext } from '../../../engine/context.ts';
import type { Micros } from '../../../values/value.ts';
import { isLoaded } from '../../protocol/loaded-sets.ts';
import type { Pulled } from '../../protocol/messages.ts';
import { ChangedKeys } from '../rebase/changed-keys.ts';
import type { RebaseHost } from '../rebase/replica-transaction.ts';
import { requireFence } from '../state/fence.ts';
import { publicRecord, type WriteRecord } from '../state/outbox-record.ts';
import {
  inDoubt,
  isAnswerTo,
  pulledUntil,
  type KeptSet,
  type ReplicaState,
} from '../state/replica-state.ts';
import { dropStaged } from '../state/staged-rows.ts';
import { stateRow } from '../state/state-row.ts';
import { putConfirmed, removeConfirmed } from './confirmed-documents.ts';
import { putSchema } from './confirmed-schema.ts';
import { outboxAfterPull } from './outbox-after-pull.ts';
import { dropParts } from './set-contents.ts';
import { partsOf, setsAfterPull } from './sets-after-pull.ts';
import { stagePart, tokenOf, withStagedParts } from './staged-pull.ts';

export interface ApplyHost extends RebaseHost {
  /** Context in which the engine evaluates index bindings, with the rights of the system. */
  readonly contextOf: (input: BodyInput) => EngineContext;
}

export interface Applied {
  readonly state: ReplicaState;
  /** Number of characters of the stored documents in the answer. */
  readonly bytes: number;
  /** Writes that got their verdict from this pull. */
  readonly settled: readonly WriteRecord[];
  /** Files of documents in the pull: the hub may have them now. While sets are loading, only of documents that were here before. */
  readonly files: readonly string[];
  /** Nothing was changed, because the pull answers a request from an earlier state. */
  readonly isIgnored: boolean;
}

/** The state from which the request was made. */
export interface RequestState {
  /** The answer has the changes after this time. */
  readonly since: Micros | undefined;
  readonly sets: readonly Pick<KeptSet, 'id' | 'query' | 'loaded'>[];
}

export interface PullRequest {
  readonly fence: number;
  /** Undefined: any state. */
  readonly asked: RequestState | undefined;
}

/**
 * Changes nothing if the answer is to a request for other sets than those kept now, or from an earlier state, or from another copy with the
 * same device id. Comparing the token is not enough: changing the sets drops the staged parts and documents, but keeps the token.
 * @throws Suspended, Fenced
 */
export function applyPull(
  request: PullRequest,
  pulled: Pulled,
  input: BodyInput,
  host: ApplyHost,
): BodyResult<Applied> {
  const state = requireFence(input.writer, request.fence);
  const { asked } = request;
  if (!isAnswerTo(pulled, state) || (asked && !isFrom(asked, state)))
    return { value: { ...unchanged(state), isIgnored: true } };
  return pulled.more ? stage(state, pulled, input, host) : applyAll(state, pulled, input, host);
}

const isFrom = ({ since, sets }: RequestState, state: ReplicaState): boolean =>
  since === pulledUntil(state) && textOf(sets) === textOf(state.sets);

const textOf = (sets: RequestState['sets']): string =>
  JSON.stringify(sets.map(({ id, query, loaded }) => [id, query, loaded]));

const unchanged = (state: ReplicaState): Applied => ({
  state,
  bytes: 0,
  settled: [],
  files: [],
  isIgnored: false,
});

function stage(
  state: ReplicaState,
  pulled: Pulled,
  input: BodyInput,
  host: ApplyHost,
): BodyResult<Applied> {
  const next = stagePart(input.writer, state, pulled);
  input.writer.put('sync', stateRow(next));
  const { commitTs } = host.contextOf(input);
  return { value: unchanged(next), ts: commitTs };
}

function applyAll(
  state: ReplicaState,
  last: Pulled,
  input: BodyInput,
  host: ApplyHost,
): BodyResult<Applied> {
  const { writer } = input;
  const pulled = withStagedParts(writer, state, last);
  const changed = new ChangedKeys();
  const context = host.contextOf(input);
  if (pulled.schema) putSchema(context, writer, pulled.schema.documents, changed);
  // A new context, because the schema may have changed.
  const here = putConfirmed(host.contextOf(input), writer, pulled.puts, changed, state.cursor);
  removeConfirmed(writer, pulled.leaves, changed);
  const sets = setsAfterPull(state, pulled);
  const before = [...partsOf(state.sets), ...(state.givenUp ?? [])];
  const someStay = dropParts(writer, before, partsOf(sets), changed);
  const outbox = outboxAfterPull({ input, state, host }, pulled, changed);
  // The documents that stay may be in a set that is still being loaded. Until their page comes, the hub does not report that they are gone.
  const check = pulled.check || (someStay && !sets.every(isLoaded));
  const { token, suspectSince } = tokenOf({ ...pulled, check }, state);
  const next: ReplicaState = {
    ...state,
    epoch: pulled.epoch,
    cursor: pulled.cursor,
    token,
    suspectSince,
    staged: undefined,
    schema: pulled.schema?.version ?? state.schema,
    actor: pulled.actor,
    sets: suspectSince === undefined ? sets : inDoubt(sets, pulled.skipped),
    givenUp: undefined,
    ...outbox.numbers,
  };
  writer.put('sync', stateRow(next));
  dropStaged(writer, state);
  const bytes = pulled.puts.reduce((sum, [, , stored]) => sum + stored.length, 0);
  return {
    value: {
      ...unchanged(next),
      bytes,
      settled: outbox.settled.map(publicRecord),
      files: filesOf(state.sets.every(isLoaded) ? pulled.puts : here),
    },
    ts: Math.max(context.commitTs, pulled.cursor),
    announced: outbox.announced,
  };
}

const filesOf = (documents: Pulled['puts']): readonly string[] => [
  ...new Set(documents.flatMap(([, , stored]) => filesIn(stored))),
];
