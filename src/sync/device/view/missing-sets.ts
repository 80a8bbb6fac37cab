/**
 * The data that a query read although the copy does not keep it or has not loaded it yet. If nothing is missing, the answer is the one that
 * the hub would have given at the last contact.
 */
import type { MissingSet } from '../../../answers.ts';
import { numberOf, type Key } from '../../../codec/key.ts';
import { ROOT_DATABASE, schemasOver, type IndexDefinition } from '../../../engine/catalog.ts';
import type { Range, Row, RowAddress } from '../../../store/port.ts';
import { isRowInRange } from '../../../store/scan.ts';
import { FIRST_USER_INDEX, NATIVE } from '../../../values/native-kinds.ts';
import { partRange, type PartRange } from '../../protocol/set-parts.ts';
import type { SetPart } from '../../protocol/sets.ts';
import type { KeptSet } from '../state/replica-state.ts';
import type { PresentReader } from './tracked-reads.ts';

/** Collections up to this one are the schema, which is always synced as far as it is needed. Keys, tokens and credentials never are. */
const SCHEMA_LAST = NATIVE.roles;

/** @param reader through which the query has read @throws Suspended */
export function missingSets(
  reader: PresentReader,
  sets: readonly KeptSet[],
): readonly MissingSet[] {
  // Copies, because this function reads as well.
  const [rows, ranges] = [[...reader.rows], [...reader.ranges]];
  const held = new HeldParts(sets.flatMap(loadedParts));
  const isInDoubt = sets.some((set) => set.isInDoubt);
  const schema = schemasOver(reader, reader)(ROOT_DATABASE);
  const missing = new Map<string, MissingSet>();
  const noteCollection = (id: number): void => {
    const name = schema.collection(id)?.name ?? String(id);
    missing.set(`collection ${name}`, { collection: name });
  };
  for (const range of ranges) {
    if (range.space !== 'documents' || held.coversRange(range)) continue;
    const id = numberOf(range.lower);
    if (range.by === 'key') {
      if (id > SCHEMA_LAST) noteCollection(id);
      continue;
    }
    if (id < FIRST_USER_INDEX) continue;
    const index = schema.byId('indexes', BigInt(id));
    if (index && held.coversIndex(index)) continue;
    const name = index?.name ?? String(id);
    missing.set(`index ${name}`, { index: name });
  }
  for (const address of rows) {
    const id = numberOf(address.key);
    if (address.space !== 'documents' || id <= SCHEMA_LAST) continue;
    if (held.coversRow(address)) continue;
    const row = reader.row(address);
    // A document that is here is as the hub has it, no matter which set it came with, unless that set may be in doubt.
    if (!row || (isInDoubt && !held.coversEntries(row))) noteCollection(id);
  }
  return [...missing.values()];
}

/** Parts that are loaded completely: their position is `undefined`, or `null` in JSON, which has no `undefined`. */
const loadedParts = ({ parts = [], loaded, error, isInDoubt }: KeptSet): readonly SetPart[] =>
  (error ?? undefined) !== undefined || loaded === 'nothing' || isInDoubt
    ? []
    : parts.filter((_, at) => (loaded[at] ?? undefined) === undefined);

/** Parts of which this device has everything that the hub has. */
class HeldParts {
  private readonly collections = new Set<number>();
  private readonly documents = new Set<Key>();
  private readonly entries: PartRange[] = [];

  constructor(parts: readonly SetPart[]) {
    for (const part of parts) {
      const range = partRange(part, ROOT_DATABASE);
      if (part.kind === 'collection') this.collections.add(part.collection);
      else if (part.kind === 'document') this.documents.add(range.lower);
      else this.entries.push(range);
    }
  }

  coversRange({ by, lower, upper }: Range): boolean {
    if (by === 'key') return this.collections.has(numberOf(lower));
    return this.entries.some((part) => part.lower <= lower && upper <= part.upper);
  }

  coversRow({ key }: RowAddress): boolean {
    return this.collections.has(numberOf(key)) || this.documents.has(key);
  }

  coversEntries(row: Row): boolean {
    return this.entries.some((part) => isRowInRange(row, part));
  }

  coversIndex({ sources }: IndexDefinition): boolean {
    return sources.every(
      ({ collections }) =>
        collections !== 'all' && [...collections].every((id) => this.collections.has(id)),
    );
  }
}
