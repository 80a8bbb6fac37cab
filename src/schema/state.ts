/** State of a database compared with a schema, and progress of its migration: the document in the collection `burrow_schema`. */
import { q, type Arg, type Expr } from '../index.ts';
import type { Kind, Objects, Params } from './objects.ts';
import { completed, fingerprintOf, isObject, plainOf } from './normal-form.ts';

/** The part of a client that `migrate()` needs: clients of a page, of `burrowdb/testing` and of `connect()` have it. */
export interface SchemaClient {
  query(expression: Expr): Promise<unknown>;
}

type Names = Readonly<Record<Kind, readonly string[]>>;

export interface SchemaRecord {
  /** The version that is applied. */
  readonly version: number;
  readonly fingerprint: string;
  /** The version that a migration in progress leads to; equal to `version` if there is none. */
  readonly target: number;
  /** Version of the last data step that is done. */
  readonly step: number;
  /** Cursor of the next part of a data step, and the number of documents before it. */
  readonly cursor: Arg | null;
  /** An id that was generated when the data step began. Null: none is in progress, or an earlier build began it. */
  readonly began: string | null;
  readonly documents: number;
  /** Objects that a schema has created: those that a later schema lacks are removed. */
  readonly objects: Names;
}

export interface State {
  readonly record: SchemaRecord | undefined;
  /** Time of the record, which every transaction of a migration changes. */
  readonly ts: number | undefined;
  readonly hasCollection: boolean;
  /** The wanted objects, as evaluated by the database. */
  readonly wanted: Objects;
  readonly stored: Objects;
  readonly removed: Names;
  /** Collections to be removed that have documents. */
  readonly filled: ReadonlySet<string>;
  readonly fingerprint: string;
}

const COLLECTION = 'burrow_schema';
export const RECORD = q.Ref(q.Collection(COLLECTION), '1');
const RECORD_COLLECTION = q.Collection(COLLECTION);
export const createRecordCollection = q.If(
  q.Exists(RECORD_COLLECTION),
  null,
  q.CreateCollection({ name: COLLECTION, history_days: 0 }),
);

export const refOf = {
  collections: (name: string) => q.Collection(name),
  indexes: (name: string) => q.Index(name),
  functions: (name: string) => q.Function(name),
  roles: (name: string) => q.Role(name),
} as const satisfies Record<Kind, (name: string) => Expr>;

/** Name under which an index is built that will replace another one. */
export const nextName = (name: string): string => `${name}__next`;

export async function readState(client: SchemaClient, objects: Objects): Promise<State> {
  const { hasCollection, record, ts } = await readRecord(client);
  const names = byKind((kind) => [
    ...new Set([...objects[kind].keys(), ...(record?.objects[kind] ?? [])]),
  ]);
  const looked = byKind((kind) =>
    kind === 'indexes' ? names[kind].flatMap((name) => [name, nextName(name)]) : names[kind],
  );
  const answer = await read(client, {
    wanted: byKind((kind) =>
      [...objects[kind]].map(([name, params]) => [name, completed(kind, params)]),
    ),
    stored: byKind((kind) =>
      looked[kind].map((name) => {
        const ref = refOf[kind](name);
        return [name, q.If(q.Exists(ref), q.Get(ref), null)];
      }),
    ),
  });
  const wanted = objectsIn(answer['wanted']);
  const stored = objectsIn(answer['stored']);
  const removed = byKind((kind) =>
    looked[kind].filter((name) => stored[kind].has(name) && !isWanted(wanted, kind, name)),
  );
  return {
    record,
    ts,
    hasCollection,
    wanted,
    stored,
    removed,
    filled: await filledOf(client, removed.collections),
    fingerprint: fingerprintOf(plainOf(q.Object(plainObjects(objects)))),
  };
}

/** An index under the name from `nextName` is wanted too: a rebuilt index uses it. */
const isWanted = (wanted: Objects, kind: Kind, name: string): boolean =>
  wanted[kind].has(name) ||
  (kind === 'indexes' && [...wanted.indexes.keys()].some((each) => nextName(each) === name));

async function readRecord(
  client: SchemaClient,
): Promise<Pick<State, 'record' | 'ts' | 'hasCollection'>> {
  const answer = await read(client, {
    hasCollection: q.Exists(RECORD_COLLECTION),
    record: q.If(q.Exists(RECORD_COLLECTION), q.If(q.Exists(RECORD), q.Get(RECORD), null), null),
  });
  const hasCollection = answer['hasCollection'] === true;
  const document = answer['record'];
  if (!isObject(document) || !isObject(document['data']))
    return { record: undefined, ts: undefined, hasCollection };
  const { data } = document;
  const number = (name: string): number => Number(data[name] ?? 0);
  const objects = isObject(data['objects']) ? data['objects'] : {};
  return {
    hasCollection,
    ts: Number(document['ts']),
    record: {
      version: number('version'),
      fingerprint: typeof data['fingerprint'] === 'string' ? data['fingerprint'] : '',
      target: number('target'),
      step: number('step'),
      cursor: Array.isArray(data['cursor']) ? data['cursor'] : null,
      began: typeof data['began'] === 'string' ? data['began'] : null,
      documents: number('documents'),
      objects: byKind((kind) => listOf(objects[kind]).map(String)),
    },
  };
}

async function filledOf(
  client: SchemaClient,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  const { filled } = await read(client, {
    filled: names.map((name) => {
      const collection = q.Collection(name);
      // If another migration has removed the collection since, the record has changed, and this migration reads the state again.
      return q.If(q.Exists(collection), q.IsNonEmpty(q.Documents(collection)), false);
    }),
  });
  return new Set(names.filter((_, at) => listOf(filled)[at] === true));
}

const byKind = <T>(value: (kind: Kind) => T): Readonly<Record<Kind, T>> => ({
  collections: value('collections'),
  indexes: value('indexes'),
  functions: value('functions'),
  roles: value('roles'),
});

const plainObjects = (objects: Objects): Readonly<Record<Kind, Params>> =>
  byKind((kind) => Object.fromEntries(objects[kind]));

function objectsIn(answer: unknown): Objects {
  const kinds = isObject(answer) ? answer : {};
  return byKind(
    (kind) =>
      new Map(
        listOf(kinds[kind]).flatMap((entry) => {
          const [name, params] = listOf(entry);
          return isObject(params) ? [[String(name), params] as const] : [];
        }),
      ),
  );
}

async function read(client: SchemaClient, members: Params): Promise<Params> {
  const answer = await client.query(q.Object(members));
  return isObject(answer) ? answer : {};
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
