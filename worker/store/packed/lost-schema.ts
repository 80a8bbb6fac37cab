/**
 * The part of a schema that could not be read. Documents of an undefined collection are invisible, and are removed like those of a
 * deleted collection. A number that is assigned twice would mix unrelated data. So schema objects without a definition get a new name,
 * and no number is assigned again.
 */
import {
  databaseOf,
  decodeDocumentKey,
  decodeHistoryKey,
  documentKey,
  numberOf,
  type DocumentAddress,
} from '../../../src/codec/key.ts';
import { packVersion, unpackVersion } from '../../../src/codec/row.ts';
import { globalIdText } from '../../../src/engine/access.ts';
import { ROOT_DATABASE } from '../../../src/engine/catalog.ts';
import { allEntries, bodyOf, SEQUENCES } from '../../../src/engine/documents.ts';
import type { SalvagedRows } from '../../../src/packed/salvage.ts';
import type { Row } from '../../../src/store/port.ts';
import { isNative, NATIVE, nativeKind, nativeNumbers } from '../../../src/values/native-kinds.ts';
import { Ref, type DatabaseId, type Value } from '../../../src/values/value.ts';

/** At most this many numbers are assumed to have been assigned to objects that can no longer be seen. */
const UNSEEN = 1000;
const NUMBERED = [...nativeNumbers((kind) => kind.isNamed)];

export class LostSchema {
  /** Schema objects that have a definition or were deleted. */
  private readonly known = new Set<string>();
  private readonly databases = new Set<DatabaseId>([ROOT_DATABASE]);
  /** Collections that have documents. */
  private readonly filled = new Map<string, Ref>();
  /** The highest number of each kind, in each database. */
  private readonly highest = new Map<string, number>();

  add({ space, rows }: SalvagedRows): void {
    for (const row of rows)
      try {
        if (space === 'documents') this.addDocument(row);
        if (space === 'history') this.addPast(row);
      } catch {
        // A row that cannot be read is ignored; `verify()` reports it.
      }
  }

  /** Definitions, with new names, for the objects that have none, and counters above all numbers that may have been assigned. */
  withNewNames(): { readonly rows: readonly Row[]; readonly names: readonly string[] } {
    const [, ...databases] = [...this.databases].map((id) =>
      definitionOf(ROOT_DATABASE, NATIVE.databases, id),
    );
    const nameless = [...databases, ...this.filled.values()].filter(
      (ref) => !this.known.has(nameOf(ref)),
    );
    const named = nameless.map((ref) => {
      const name = `salvaged_${ref.id}`;
      const isDatabase = ref.collection === NATIVE.databases;
      const row = rowOf(ref, isDatabase ? { name, global_id: globalIdText(ref.id) } : { name });
      return { name, row };
    });
    return {
      rows: [...named.map(({ row }) => row), ...this.counters()],
      names: named.map(({ name }) => name),
    };
  }

  private addPast({ key, value }: Row): void {
    if (unpackVersion(String(value)).action === 'delete') this.addDefined(decodeHistoryKey(key));
  }

  private addDocument({ key, entries, value }: Row): void {
    const address = decodeDocumentKey(key);
    const { database, collection, id } = address;
    this.databases.add(database);
    this.addNumber(ROOT_DATABASE, NATIVE.databases, database);
    if (collection === SEQUENCES) {
      const { body } = unpackVersion(String(value));
      const { last } = JSON.parse(body) as { readonly last: number };
      this.addNumber(database, Number(id), last);
    } else if (isNative(collection)) {
      this.addDefined(address);
      this.addNumber(database, collection, Number(id));
    } else {
      const ref = definitionOf(database, NATIVE.collections, collection);
      this.filled.set(nameOf(ref), ref);
      this.addNumber(database, NATIVE.collections, collection);
    }
    for (const entry of entries) this.addNumber(databaseOf(entry), NATIVE.indexes, numberOf(entry));
  }

  /** Databases are recorded under the root database, whichever database defines them. */
  private addDefined({ database, collection, id }: DocumentAddress): void {
    const home = collection === NATIVE.databases ? ROOT_DATABASE : database;
    this.known.add(nameOf({ database: home, collection, id }));
  }

  private addNumber(database: DatabaseId, kind: number, number: number): void {
    const name = `${database}/${kind}`;
    this.highest.set(name, Math.max(number, this.highest.get(name) ?? 0));
  }

  private counters(): Row[] {
    return [...this.databases].flatMap((database) =>
      NUMBERED.map((kind) => {
        const first = nativeKind(kind)?.firstNumber ?? 1;
        const last = Math.max(first, this.highest.get(`${database}/${kind}`) ?? 0) + UNSEEN;
        return rowOf(definitionOf(database, SEQUENCES, kind), { last });
      }),
    );
  }
}

/** The row of a document that seems to have existed since the first commit. */
function rowOf(ref: Ref, members: Readonly<Record<string, Value>>): Row {
  const fields = new Map(Object.entries(members));
  const version = { ts: 1, action: 'create', ttl: undefined, added: undefined } as const;
  return {
    key: documentKey(ref.database, ref.collection, ref.id),
    entries: allEntries(ref, fields, undefined, []),
    value: packVersion({ ...version, ...bodyOf(fields, ref.database) }),
  };
}

const definitionOf = (database: DatabaseId, kind: number, number: number): Ref =>
  new Ref(database, kind, BigInt(number));

const nameOf = ({ database, collection, id }: DocumentAddress): string =>
  `${database}/${collection}/${id}`;
