/** Builds the rows of versions, and checks limits on their size. */
import type { Key } from '../../codec/key.ts';
import { packVersion, type StoredVersion } from '../../codec/row.ts';
import { utf8Length } from '../../codec/utf8.ts';
import { assert, Refusal } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { Row } from '../../store/port.ts';
import type { Writer } from '../../store/reader.ts';
import { isKind } from '../../values/value.ts';
import type { Micros, ObjectValue, Ref } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import type { IndexDefinition } from '../catalog/definitions.ts';
import { boundedWork } from '../context/budget.ts';
import { indexEntries, omitUnfit, type OnUnfit } from './index-entries.ts';
import { nativeEntries } from '../catalog/native-indexes.ts';

/** @throws Refusal `bad request` when the query has already written too much */
export function writerOf(context: EngineContext): Writer {
  const { writer } = context;
  assert(writer, () => 'only a query that may write gets here');
  requireTransactionSize(writer.bytes);
  return writer;
}

/** @throws Refusal `bad request` */
export function requireTransactionSize(bytes: number): void {
  if (bytes <= LIMITS.transactionBytes) return;
  throw new Refusal(
    'bad request',
    `Transaction size exceeds the limit of ${LIMITS.transactionBytes} bytes.`,
  );
}

export const deleteMarker = (ts: Micros): StoredVersion => ({
  ts,
  action: 'delete',
  ttl: undefined,
  added: undefined,
  plain: true,
  body: '',
});

/** The first µs at which a version with this `ttl` has expired. */
export function ttlOf(fields: ObjectValue): Micros | undefined {
  const ttl = fields.get('ttl');
  if (!isKind(ttl, 'time')) return undefined;
  const micros = Number((ttl.nanos + 999n) / 1000n);
  return Math.min(Math.max(micros, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

export interface IndexedEntries {
  readonly index: IndexDefinition;
  readonly keys: readonly Key[];
}

type Indexed = Pick<StoredVersion, 'ts' | 'ttl'>;

function* entriesByIndex(
  context: EngineContext,
  ref: Ref,
  fields: ObjectValue,
  { ts, ttl }: Indexed,
  onUnfit?: OnUnfit,
): Generator<IndexedEntries> {
  for (const index of context.schema(ref.database).indexesOf(ref.collection))
    yield { index, keys: indexEntries(context, index, ref, { ts, ttl, fields }, onUnfit) };
}

/**
 * Entries of a stored version in the indexes of its collection. There is no limit on their number: several index builds may have added
 * them.
 */
export const userEntries = (
  context: EngineContext,
  ref: Ref,
  fields: ObjectValue,
  version: Indexed,
  onUnfit = omitUnfit,
): readonly IndexedEntries[] => [...entriesByIndex(context, ref, fields, version, onUnfit)];

/** Units of work for each entry, if an index has more than one for the version. */
const ENTRY_WORK = 2_000;

/**
 * Entries of a version that a query writes.
 * @param onUnfit given for a version that is already stored and only written again
 * @throws Refusal `bad request` when the entries exceed the size of a transaction, or, without `onUnfit`, when an index cannot hold them
 */
export function entriesToWrite(
  context: EngineContext,
  ref: Ref,
  fields: ObjectValue,
  version: Indexed,
  onUnfit?: OnUnfit,
): readonly IndexedEntries[] {
  const all: IndexedEntries[] = [];
  let bytes = 0;
  for (const indexed of entriesByIndex(context, ref, fields, version, onUnfit)) {
    const { keys } = indexed;
    if (keys.length > 1) {
      context.meters.budget.spend(boundedWork(keys.length * ENTRY_WORK));
      bytes += keys.reduce((sum, key) => sum + key.length, 0);
      requireTransactionSize(bytes);
    }
    all.push(indexed);
  }
  return all;
}

/** All entries of a version while it is the current one. */
export const allEntries = (
  ref: Ref,
  fields: ObjectValue,
  ttl: Micros | undefined,
  indexed: readonly IndexedEntries[],
): readonly Key[] => {
  const entries = nativeEntries(ref, fields, ttl);
  for (const { keys } of indexed) for (const key of keys) entries.push(key);
  return entries;
};

export interface CurrentVersion {
  readonly key: Key;
  readonly entries: readonly Key[];
  readonly version: StoredVersion;
  readonly added: readonly Micros[] | undefined;
}

/** @throws Refusal `bad request` for a document that is too large */
export function putCurrent(context: EngineContext, writer: Writer, current: CurrentVersion): void {
  const { key, entries, version, added } = current;
  const value = packVersion({ ...version, added });
  requireDocumentSize(value);
  writer.put('documents', { key, entries, value });
  countWritten(context, { key, entries, value });
}

export function countWritten(context: EngineContext, { key, entries, value }: Row): void {
  context.meters.countWrite(
    key,
    entries.reduce((sum, entry) => sum + entry.length, value.length),
  );
}

/** A code unit takes at most 3 bytes, so short texts need not be measured. */
const BYTES_PER_UNIT_MAX = 3;

export function requireDocumentSize(value: string): void {
  if (value.length * BYTES_PER_UNIT_MAX <= LIMITS.documentBytes) return;
  if (utf8Length(value) <= LIMITS.documentBytes) return;
  throw new Refusal('bad request', `Document exceeds the limit of ${LIMITS.documentBytes} bytes.`);
}
