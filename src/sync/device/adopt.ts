/** Makes an empty database the copy of one at a hub. */
import { after, collectionPrefix, type Key } from '../../codec/key.ts';
import type { BodyInput } from '../../engine/transactions.ts';
import { ROOT_DATABASE } from '../../engine/catalog.ts';
import { Refusal } from '../../errors.ts';
import { eachElement } from '../../query/collect-needs.ts';
import type { Actor } from '../protocol.ts';
import { isSameIdentity } from './actor.ts';
import type { ReplicaState } from './api.ts';
import { readState, STATE } from './rows.ts';
import type { Step } from './step.ts';
import { NATIVE } from '../../values/native-kinds.ts';

/** @throws Suspended; Refusal `forbidden` when it holds a schema of its own, or is a copy of something else */
export function adopt(
  input: BodyInput,
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
function requireEmpty({ writer }: BodyInput): void {
  const kinds = [
    NATIVE.collections,
    NATIVE.indexes,
    NATIVE.functions,
    NATIVE.roles,
    NATIVE.databases,
  ];
  const found = eachElement(kinds, (collection) => {
    const prefix: Key = collectionPrefix(ROOT_DATABASE, collection);
    return writer.range({
      space: 'documents',
      by: 'key',
      lower: prefix,
      upper: after(prefix),
      reverse: false,
      limit: 1,
      rows: false,
    });
  });
  if (found.every((entries) => entries.length === 0)) return;
  throw new Refusal(
    'forbidden',
    'This database already contains data that did not come from a hub. Open a database with another name for the copy, and import the data into the hub with `burrow import`.',
  );
}
