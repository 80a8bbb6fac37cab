/** Makes an empty database the copy of one at a hub. */
import { collectionPrefix } from '../../../codec/key.ts';
import type { AttemptInput } from '../../../engine/attempts.ts';
import { ROOT_DATABASE } from '../../../engine/databases.ts';
import { Refusal } from '../../../errors.ts';
import { eachElement } from '../../../query/gather.ts';
import { NATIVE } from '../../../values/value.ts';
import type { Actor } from '../../protocol/messages.ts';
import { isSameIdentity } from '../view/impersonation.ts';
import type { ReplicaState } from '../state/api.ts';
import { readState, STATE } from '../state/rows.ts';
import type { Step } from '../state/step.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import { scan } from '../../../store/scan.ts';

/** @throws Suspended; Refusal `forbidden` when it holds a schema of its own, or is a copy of something else */
export function adopt(
  input: AttemptInput,
  whose: Pick<ReplicaState, 'hub' | 'actor' | 'epoch' | 'device'> & { readonly actor: Actor },
): Step<ReplicaState> {
  const known = readState(input.writer.row(STATE));
  if (known) return { value: requireSame(known, whose) };
  requireEmpty(input);
  const next: ReplicaState = { ...FRESH, ...whose };
  return { value: next, next };
}

const FRESH: Omit<ReplicaState, 'hub' | 'actor' | 'epoch' | 'device'> = {
  era: 1,
  cursor: undefined,
  token: undefined,
  suspectSince: undefined,
  staged: undefined,
  schema: undefined,
  sets: [],
  lastSeq: 0,
  shownSeq: 0,
  settledSeq: 0,
  skew: 0,
  lastNow: 0,
  outboxSize: 0,
  isLocked: false,
  fence: 0,
  generation: 0,
};

function requireSame(
  known: ReplicaState,
  { hub, actor }: { readonly hub: string; readonly actor: Actor },
): ReplicaState {
  if (known.hub === hub && known.actor && isSameIdentity(known.actor, actor)) return known;
  throw new Refusal(
    'forbidden',
    `This database is a copy from ${known.hub} for another user or database. Open a database with another name.`,
  );
}

/** A database with a schema of its own is nobody's copy. */
function requireEmpty({ writer }: AttemptInput): void {
  const kinds = [
    NATIVE.collections,
    NATIVE.indexes,
    NATIVE.functions,
    NATIVE.roles,
    NATIVE.databases,
  ];
  const found = eachElement(kinds, (collection) => {
    const all = prefixRange(collectionPrefix(ROOT_DATABASE, collection));
    return writer.range(scan('documents', all, { limit: 1, rows: false }));
  });
  if (found.every((entries) => entries.length === 0)) return;
  throw new Refusal(
    'forbidden',
    'This database already contains data that did not come from a hub. Open a database with another name for the copy, and import the data into the hub with `burrow import`.',
  );
}
