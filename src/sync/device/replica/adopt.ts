/** Makes an empty database a copy of a database at a hub. */
import { collectionPrefix } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import type { BodyInput } from '../../../engine/transactions.ts';
import { ROOT_DATABASE } from '../../../engine/catalog.ts';
import { Refusal } from '../../../errors.ts';
import { eachElement } from '../../../query/collect-needs.ts';
import { scan } from '../../../store/scan.ts';
import { NATIVE } from '../../../values/native-kinds.ts';
import type { Welcome } from '../../protocol/messages.ts';
import type { StateChange } from '../rebase/replica-transaction.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import { readState, STATE } from '../state/state-row.ts';
import { isSameIdentity } from '../view/impersonation.ts';

/** The part of a hello's answer that a new copy needs. */
export type Introduction = Pick<Welcome, 'actor' | 'epoch' | 'idKey'>;

type Origin = Pick<ReplicaState, 'hub' | 'device'> & Introduction;

/** @throws Suspended; Refusal `forbidden` if the database has a schema of its own, or is a copy of another database or for another user */
export function adopt(input: BodyInput, origin: Origin): StateChange<ReplicaState> {
  const known = readState(input.writer.row(STATE));
  if (known) return { value: requireSame(known, origin) };
  requireEmpty(input);
  const next: ReplicaState = { ...NEW, ...origin };
  return { value: next, next };
}

const NEW: Omit<ReplicaState, keyof Origin> = {
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

function requireSame(known: ReplicaState, { hub, actor }: Origin): ReplicaState {
  if (known.hub === hub && isSameIdentity(known.actor, actor)) return known;
  throw new Refusal(
    'forbidden',
    `This database is a copy of another one at ${known.hub}, or for another user. Open a database with another name.`,
  );
}

const SCHEMA = [
  NATIVE.collections,
  NATIVE.indexes,
  NATIVE.functions,
  NATIVE.roles,
  NATIVE.databases,
];

function requireEmpty({ writer }: BodyInput): void {
  const found = eachElement(SCHEMA, (collection) => {
    const all = prefixRange(collectionPrefix(ROOT_DATABASE, collection));
    return writer.range(scan('documents', all, { limit: 1, rows: false }));
  });
  if (found.every((entries) => entries.length === 0)) return;
  throw new Refusal(
    'forbidden',
    'This database has data that did not come from a hub. Open a database with another name for the copy: `adopt()` takes the data there.',
  );
}
