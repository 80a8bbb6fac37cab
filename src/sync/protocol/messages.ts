/**
 * What came in, looked at: a message is of the right shape and within its limits, or it is refused and nothing happens. Whether it is
 * true is another matter.
 */
import { API_VERSIONS } from '../../query/session.ts';
import { SYNC_LIMITS } from '../../limits.ts';
import { FINGERPRINT_BUCKETS } from './protocol.ts';
import type {
  Check,
  DocumentName,
  Hello,
  Pull,
  PulledSet,
  Push,
  PushItem,
  SetPart,
  SyncRefusal,
  SyncRefusalCode,
} from './protocol.ts';

/** Ends an exchange: what the device is told instead of an answer. */
export class SyncRefused extends Error {
  readonly refusal: SyncRefusal;
  constructor(code: SyncRefusalCode, description: string) {
    super(description);
    this.refusal = { code, description };
  }
}

const bad = (what: string): never => {
  throw new SyncRefused('bad_message', `${what}.`);
};

type Members = Readonly<Record<string, unknown>>;

/** @throws SyncRefused `bad_message`, as all that read here */
export function readHello(message: unknown): Hello {
  const members = membersOf(message, 'A hello');
  return {
    protocol: countAt(members, 'protocol'),
    device: digitsAt(members, 'device', 32),
    epoch: members['epoch'] === undefined ? undefined : digitsAt(members, 'epoch', 32),
    lastSeq: countAt(members, 'lastSeq'),
  };
}

export function readPush(message: unknown): Push {
  const members = membersOf(message, 'A push');
  const items = listAt(members, 'items', SYNC_LIMITS.pushItems).map(readItem);
  const chars = items.reduce((sum, { query }) => sum + query.length, 0);
  if (chars > SYNC_LIMITS.pushChars)
    bad(`The queries of a push must have at most ${SYNC_LIMITS.pushChars} characters`);
  items.forEach(({ seq }, i) => {
    if (i > 0 && seq !== (items[i - 1]?.seq ?? 0) + 1)
      bad('The items of a push must be numbered consecutively');
  });
  return { ...contactOf(members), items, settled: countAt(members, 'settled') };
}

function readItem(item: unknown): PushItem {
  const members = membersOf(item, 'An item');
  const seq = countAt(members, 'seq');
  if (seq === 0) bad('`seq` must be at least 1');
  const apiVersion = textAt(members, 'apiVersion', 16);
  if (!(API_VERSIONS as readonly string[]).includes(apiVersion))
    bad(`\`apiVersion\` must be one of ${API_VERSIONS.join(', ')}`);
  return {
    seq,
    hash: digitsAt(members, 'hash', 64),
    query: textAt(members, 'query', SYNC_LIMITS.pushChars),
    apiVersion,
    now: microsAt(members, 'now'),
    ids: listAt(members, 'ids', SYNC_LIMITS.idsPerItem).map(readId),
    digest: members['digest'] === undefined ? undefined : digitsAt(members, 'digest', 64),
  };
}

export function readPull(message: unknown): Pull {
  const members = membersOf(message, 'A pull');
  const sets = listAt(members, 'sets', SYNC_LIMITS.sets).map(readSet);
  if (new Set(sets.map(({ id }) => id)).size < sets.length)
    bad('The ids of the sets must be unique');
  const maxBytes = countAt(members, 'maxBytes');
  return {
    ...contactOf(members),
    cursor: members['cursor'] === undefined ? undefined : microsAt(members, 'cursor'),
    token: members['token'] === undefined ? undefined : textAt(members, 'token', TOKEN_CHARS),
    schema: members['schema'] === undefined ? undefined : digitsAt(members, 'schema', 64),
    sets,
    refetch: listAt(members, 'refetch', SYNC_LIMITS.refetch).map(readName),
    settled: countAt(members, 'settled'),
    maxBytes: Math.min(maxBytes, SYNC_LIMITS.pullBytes),
  };
}

const TOKEN_CHARS = 256;

function readSet(set: unknown): PulledSet {
  const members = membersOf(set, 'A set');
  const { loaded, parts } = members;
  return {
    ...setNameOf(members),
    loaded:
      loaded === 'nothing'
        ? 'nothing'
        : listAt(members, 'loaded', SYNC_LIMITS.partsPerSet).map(readPlace),
    ...(parts !== undefined && {
      parts: listAt(members, 'parts', SYNC_LIMITS.partsPerSet).map(readPart),
    }),
  };
}

const setNameOf = (members: Members): Pick<PulledSet, 'id' | 'query'> => ({
  id: textAt(members, 'id', 256),
  query: textAt(members, 'query', SYNC_LIMITS.setChars),
});

/** JSON has no undefined in arrays: `null` stands for it. */
function readPlace(place: unknown): string | undefined {
  if (place === null || place === undefined) return undefined;
  return isHex(place) && place.length % 2 === 0 ? place : bad('A position must be hexadecimal');
}

function readPart(part: unknown): SetPart {
  const members = membersOf(part, 'A part');
  switch (members['kind']) {
    case 'collection':
      return { kind: 'collection', collection: countAt(members, 'collection') };
    case 'index': {
      const prefix = members['prefix'];
      if (!isHex(prefix) || prefix.length % 2 !== 0) return bad('`prefix` must be hexadecimal');
      return { kind: 'index', index: countAt(members, 'index'), prefix };
    }
    case 'document': {
      const [collection, id] = readName([members['collection'], members['id']]);
      return { kind: 'document', collection, id };
    }
    default:
      return bad('A part must be a collection, an index or a document');
  }
}

export function readCheck(message: unknown): Check {
  const members = membersOf(message, 'A check');
  const buckets = listAt(members, 'buckets', FINGERPRINT_BUCKETS);
  if (buckets.length !== FINGERPRINT_BUCKETS || !buckets.every((each) => isHex(each, 16)))
    bad(`\`buckets\` must have ${FINGERPRINT_BUCKETS} sums of 16 hexadecimal digits`);
  return {
    ...contactOf(members),
    set: setNameOf(membersOf(members['set'], 'A set')),
    buckets: buckets as readonly string[],
  };
}

/** @throws SyncRefused `bad_message` */
export function requireDevice(device: unknown): string {
  return isHex(device, 32) ? device : bad('`device` must have 32 hexadecimal digits');
}

const contactOf = (members: Members): Pick<Pull, 'device' | 'epoch'> => ({
  device: digitsAt(members, 'device', 32),
  epoch: digitsAt(members, 'epoch', 32),
});

function membersOf(value: unknown, what: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return bad(`${what} must be an object`);
  return value as Members;
}

function listAt(members: Members, name: string, max: number): readonly unknown[] {
  const value = members[name];
  if (!Array.isArray(value)) return bad(`\`${name}\` must be an array`);
  return value.length <= max ? value : bad(`\`${name}\` must have at most ${max} elements`);
}

function textAt(members: Members, name: string, max: number): string {
  const value = members[name];
  if (typeof value !== 'string') return bad(`\`${name}\` must be a string`);
  return value.length <= max ? value : bad(`\`${name}\` must have at most ${max} characters`);
}

function digitsAt(members: Members, name: string, count: number): string {
  const value = members[name];
  return isHex(value, count) ? value : bad(`\`${name}\` must have ${count} hexadecimal digits`);
}

function countAt(members: Members, name: string): number {
  const value = members[name];
  return Number.isSafeInteger(value) && (value as number) >= 0
    ? (value as number)
    : bad(`\`${name}\` must be an integer of 0 or more`);
}

function microsAt(members: Members, name: string): number {
  const value = members[name];
  return Number.isSafeInteger(value)
    ? (value as number)
    : bad(`\`${name}\` must be a time in microseconds`);
}

function readName(name: unknown): DocumentName {
  if (!Array.isArray(name) || name.length !== 2)
    return bad('A document must be named by collection and id');
  const [collection, id] = name as readonly unknown[];
  if (
    !Number.isInteger(collection) ||
    (collection as number) < 0 ||
    (collection as number) > UINT32_MAX
  )
    return bad('A collection must be a number below 2^32');
  return [collection as number, readId(id)];
}

const UINT32_MAX = 0xffff_ffff;
const ID_MAX = 2n ** 63n - 1n;

function readId(id: unknown): string {
  if (typeof id !== 'string' || !/^(0|[1-9]\d{0,18})$/.test(id) || BigInt(id) > ID_MAX)
    return bad('An id must be a string of digits, below 2^63');
  return id;
}

const isHex = (value: unknown, length?: number): value is string =>
  typeof value === 'string' &&
  /^[\da-f]*$/.test(value) &&
  (length === undefined || value.length === length);
