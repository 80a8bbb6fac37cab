/**
 * What a device lacks, at one time: the changes of its sets since its cursor, the schema they need, the next pages of those it does not
 * have whole. Everything is judged under the rights of now.
 */
import { decodeDocumentKey, documentKey, type Key } from '../../codec/key.ts';
import { packVersion, unpackVersion } from '../../codec/row.ts';
import type { BodyInput, BodyResult, LoggedChange } from '../../engine/transactions.ts';
import { SYNC_LIMITS } from '../../limits.ts';
import { eachElement } from '../../query/collect-needs.ts';
import type { Row } from '../../store/port.ts';
import type { Reader } from '../../store/reader.ts';
import { type CollectionId, type DatabaseId, type Micros } from '../../values/value.ts';
import type { DocumentName, Pull, Pulled, PulledDocument } from '../protocol.ts';
import { actorOf, askerOf, ownerOf, type Asker, type AskerHost, type Exchange } from './asker.ts';
import { answerOf, askedSet, hasNothing, isHeld, type AskedSet } from './asked-sets.ts';
import { changesSince, collectionOfChange, horizonIn, type ChangesFound } from './changes.ts';
import { digestOfRoles, readToken, tokenText } from './copy-token.ts';
import { requireDeviceIn, requireEpoch, verdictsAbove, type DeviceRecord } from './device-rows.ts';
import type { RecentChanges } from './recent-changes.ts';
import { Rights } from './rights.ts';
import { schemaFor } from './schema-stream.ts';
import { NO_SCOPE, ScopeFacts, scopeIn, widened, type Scope } from './scope.ts';
import { seenSince } from './seen-before.ts';
import { countOf, nextPages } from './set-pages.ts';
import { goByTheClock } from './timed-rights.ts';
import { lateIn } from './slice.ts';
import { WatchedReader } from './watched-reader.ts';
import { NATIVE } from '../../values/native-kinds.ts';

export interface PullOutcome {
  readonly pulled: Pulled;
  readonly database: DatabaseId;
  readonly sets: readonly AskedSet[];
  /** As it was, and as it is to be from now on. */
  readonly before: Scope | undefined;
  readonly scope: Scope;
}

/** What one run has at hand. */
interface Ground {
  readonly message: Pull;
  readonly input: BodyInput;
  readonly reader: Reader;
  readonly watched: WatchedReader;
  readonly asker: Asker;
  readonly rights: Rights;
  readonly database: DatabaseId;
  readonly device: DeviceRecord;
  readonly sets: readonly AskedSet[];
  readonly scope: Scope | undefined;
  readonly recent: RecentChanges | undefined;
}

export interface PullHost extends AskerHost {
  readonly recent?: RecentChanges | undefined;
}

/** @throws Suspended, SyncRefused */
export function attemptPull(
  message: Pull,
  exchange: Exchange,
  input: BodyInput,
  host: PullHost,
): BodyResult<PullOutcome> {
  const ground = groundOf(message, exchange, input, host);
  const { reader, asker, database, device } = ground;
  const caughtUp = changesFor(ground);
  const { puts, leaves, sets, isUnsure } = documentsFor(ground, caughtUp, lateIn(host.clock));
  const schema = schemaFor(reader, asker, sets, host.sha256);
  const scope = widened(ground.scope ?? NO_SCOPE, ground.watched, asker.context.snapshot);
  const { token, isDue } = tokenAfter(ground, { caughtUp, isUnsure, scope }, host);
  const settled = Math.max(message.settled, device.forgotten);
  const verdicts = verdictsAbove(reader, database, message.device, {
    settled,
    lastSeq: device.lastSeq,
  });
  const pulled: Pulled = {
    epoch: message.epoch,
    cursor: caughtUp.until,
    token,
    after: message.token,
    more: caughtUp.until < input.head,
    lastSeq: device.lastSeq,
    verdicts,
    actor: actorOf(asker),
    schema: schema.version === message.schema ? undefined : schema,
    puts,
    leaves,
    sets: sets.map((set, i) => answerOf(set, countFor(ground, i))),
    check: isDue && ground.sets.some((set) => !set.error && !hasNothing(set)),
  };
  const value = { pulled, database, sets, before: ground.scope, scope };
  return { value, ts: input.head, keep: false };
}

function groundOf(message: Pull, exchange: Exchange, input: BodyInput, host: PullHost): Ground {
  const { writer: reader } = input;
  requireEpoch(reader, message.epoch);
  const watched = new WatchedReader(reader, Math.max(exchange.started, input.head));
  const asker = askerOf(exchange, input, watched, host);
  const { database } = asker.caller;
  const device = requireDeviceIn(reader, database, message.device, ownerOf(asker.caller));
  const rights = new Rights(asker, watched);
  const { context, session } = asker;
  const mayReadOf = (collection: CollectionId) => rights.mayReadOf(collection);
  const sets = eachElement(message.sets, (set) => askedSet({ context, session, mayReadOf }, set));
  const scope = scopeIn(reader, database, message.device);
  const { recent } = host;
  const found = { reader, watched, asker, rights, database, device, sets, scope };
  return { message, input, recent, ...found };
}

interface CaughtUp extends ChangesFound {
  /** Where the device stood; undefined: nobody knows. */
  readonly since: Micros | undefined;
  /** Rights may have changed: what they rest on did, or the schema. */
  readonly isScopeMet: boolean;
}

/** Collections of schema objects that rights are made of. */
const OF_RIGHTS: ReadonlySet<CollectionId> = new Set([
  NATIVE.collections,
  NATIVE.indexes,
  NATIVE.functions,
  NATIVE.roles,
  NATIVE.access_providers,
]);

function changesFor(ground: Ground): CaughtUp {
  const { message, input, reader, database, sets, scope, recent } = ground;
  const since = cursorOf(ground);
  if (since === undefined)
    return { rows: new Map(), until: input.head, bytes: 0, since, isScopeMet: false };
  const facts = new ScopeFacts(scope ?? NO_SCOPE);
  const parts = sets.flatMap((set) => set.parts);
  let isScopeMet = false;
  const concerns = (change: LoggedChange): boolean => {
    isScopeMet ||= OF_RIGHTS.has(collectionOfChange(change)) || facts.isMetBy(change);
    return parts.some((part) => isHeld(part, change));
  };
  const { head } = input;
  const asked = { database, since, head, bytes: message.maxBytes, concerns, recent };
  return { ...changesSince(reader, asked), since, isScopeMet };
}

function cursorOf({ message, input, reader, database }: Ground): Micros | undefined {
  const { cursor } = message;
  if (cursor === undefined || cursor > input.head) return undefined;
  return cursor >= horizonIn(reader, database) ? cursor : undefined;
}

interface Documents {
  readonly puts: readonly PulledDocument[];
  readonly leaves: readonly DocumentName[];
  readonly sets: readonly AskedSet[];
  /** Of some it cannot be told whether the device has them. */
  readonly isUnsure: boolean;
}

/** At least so much of an answer is left to pages: changes that never end must not keep them back. */
const PAGE_SHARE = 0.25;

function documentsFor(
  ground: Ground,
  { rows, since, until, bytes }: CaughtUp,
  isLate: () => boolean,
): Documents {
  const { message, input, reader, asker, rights, sets } = ground;
  const parts = sets.flatMap((set) => set.parts);
  const asked = new Map([...rows, ...refetched(ground)]);
  const isShown = eachElement(
    asked,
    ([key, row]) =>
      row !== undefined && parts.some((part) => isHeld(part, row)) && rights.mayRead(key),
  );
  const found = new Map<Key, Row>();
  const hidden = new Map<Key, Row | undefined>();
  [...asked].forEach(([key, row], i) => {
    if (row && isShown[i] === true) found.set(key, row);
    else hidden.set(key, row);
  });
  const named = new Set(message.refetch.map((name) => keyOf(ground, name)));
  const questioned = new Map([...hidden].filter(([key]) => !named.has(key)));
  const { seen, isUnsure } = seenSince(reader, asker, rights, questioned, since ?? input.head);
  const isCaughtUp = until === input.head;
  const room = Math.max(message.maxBytes - bytes, message.maxBytes * PAGE_SHARE);
  const budget = { bytes: room, rows: SYNC_LIMITS.pullRows, isLate };
  const after = isCaughtUp ? nextPages(reader, rights, sets, budget, found) : sets;
  const gone = [...hidden.keys()].filter(
    (key) => !found.has(key) && (seen.has(key) || named.has(key)),
  );
  return { puts: [...found].map(putOf), leaves: gone.map(nameOf), sets: after, isUnsure };
}

function refetched(ground: Ground): readonly (readonly [Key, Row | undefined])[] {
  const { message, reader } = ground;
  const keys = message.refetch.map((name) => keyOf(ground, name));
  return eachElement(keys, (key) => [key, reader.row({ space: 'documents', key })] as const);
}

const keyOf = ({ database }: Ground, [collection, id]: DocumentName): Key =>
  documentKey(database, collection, BigInt(id));

function nameOf(key: Key): DocumentName {
  const { collection, id } = decodeDocumentKey(key);
  return [collection, String(id)];
}

function putOf([key, row]: readonly [Key, Row]): PulledDocument {
  const [collection, id] = nameOf(key);
  const version = unpackVersion(String(row.value));
  const stored = version.added ? packVersion({ ...version, added: undefined }) : String(row.value);
  return [collection, id, stored];
}

/** Told when loading begins, to those who may see all of it. */
function countFor({ reader, rights, sets }: Ground, at: number): number | undefined {
  const set = sets[at];
  if (!set || set.error || !hasNothing(set)) return undefined;
  const isOpen = set.parts.every(({ part, index }) =>
    part.kind === 'index'
      ? rights.areBuiltin ||
        (index?.sources ?? []).every(
          ({ collections }) =>
            collections !== 'all' && [...collections].every((id) => rights.readsAll(id)),
        )
      : rights.readsAll(part.collection),
  );
  return isOpen ? countOf(reader, set.parts) : undefined;
}

interface Judged {
  readonly caughtUp: CaughtUp;
  readonly isUnsure: boolean;
  readonly scope: Scope;
}

/** What the copy is told of itself; due: it may hold what is not its to see, or lack what is, without a change that says so. */
function tokenAfter(
  { message, asker, rights, scope: before }: Ground,
  { caughtUp, isUnsure, scope }: Judged,
  { sha256, random }: AskerHost,
): { readonly token: string; readonly isDue: boolean } {
  const { snapshot } = asker.context;
  const known = readToken(message.token);
  const { role, roles: inForce } = actorOf(asker);
  const roles = digestOfRoles([role, ...inForce], sha256);
  const tokenOf = (timed: Micros) => tokenText({ at: snapshot, timed, roles }, random(NONCE_BYTES));
  // Of a device that is new here nobody has noted what its rights rest on.
  const isLost = !known || !before || caughtUp.since === undefined;
  if (isLost) return { token: tokenOf(snapshot), isDue: true };
  const isTimed = !rights.areBuiltin && goByTheClock(asker);
  const isTime = isTimed && snapshot - known.timed > SYNC_LIMITS.timedCheckMicros;
  const isMet = caughtUp.isScopeMet || isUnsure || scope.lapsed > known.at;
  const isDue = known.roles !== roles || (!rights.areBuiltin && isMet) || isTime;
  return { token: tokenOf(isTime ? snapshot : known.timed), isDue };
}

const NONCE_BYTES = 8;
