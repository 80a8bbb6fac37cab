/** A small store for tests of sets, with real rows, a real schema, and reads that suspend as in a host. */
import type { Need, Reader } from '../../store/reader.ts';
import { Suspended } from '../../store/reader.ts';
import { Overlay } from '../../store/overlay.ts';
import type { Entry, Range, Row, RowAddress } from '../../store/port.ts';
import { Ref } from '../../values/value.ts';
import type { Lambda, Micros, ObjectValue, SetValue, Value } from '../../values/value.ts';
import { createContext } from '../context/context.ts';
import type { ContextParts, EngineContext, Lambdas } from '../context/context.ts';
import { Meters } from '../context/meters.ts';
import type { Permissions } from '../context/access-request.ts';
import { schemasOver } from '../catalog/schema.ts';
import { parseStoredLambda } from '../catalog/stored-lambdas.ts';
import { rootCaller } from '../context/caller.ts';
import { deleteDocument, writeVersion } from '../documents/write-version.ts';
import { NATIVE } from '../../values/native-kinds.ts';

const EMPTY: Reader = { row: () => undefined, range: () => [] };

export const DATABASE = 7;

export type LambdaBody = (argument: Value, time: EngineContext['snapshot'] | 'present') => Value;

export interface IndexParts {
  readonly terms?: readonly Value[];
  readonly values?: readonly Value[];
  readonly source?: Value;
  readonly active?: boolean;
}

export const field = (name: string, more: Readonly<Record<string, Value>> = {}): Value =>
  new Map<string, Value>([
    ['field', name === 'ref' || name === 'ts' ? [name] : ['data', name]],
    ...Object.entries(more),
  ]);

export class SetWorld {
  /** Writes to this overlay are commits. */
  readonly base = new Overlay(EMPTY);
  now: Micros = 1_000_000;
  permissions: Permissions = { may: () => true };
  /** The fetches of the last read. */
  fetches: (readonly Need[])[] = [];
  private readonly bodies = new Map<string, LambdaBody>();
  private nextSchemaId = 1024;

  lambda(name: string, body: LambdaBody): Lambda {
    const lambda = parseStoredLambda(`"lambda":"x","expr":${JSON.stringify(name)}`, '4');
    this.bodies.set(lambda.wire, body);
    return lambda;
  }

  collection(name: string, fields: Readonly<Record<string, Value>> = {}): Ref {
    const ref = new Ref(DATABASE, NATIVE.collections, BigInt(this.nextSchemaId++));
    this.write(ref, { name, history_days: 10_000, ...fields });
    return ref;
  }

  index(
    name: string,
    source: Ref,
    { terms, values, active = true, ...parts }: IndexParts = {},
  ): Ref {
    const ref = new Ref(DATABASE, NATIVE.indexes, BigInt(31_744 + this.nextSchemaId++));
    this.write(ref, {
      name,
      source,
      ...parts,
      ...(terms ? { terms } : {}),
      ...(values ? { values } : {}),
      active,
    });
    return ref;
  }

  /** Commits a version, by default at the next µs. */
  write(ref: Ref, fields: Readonly<Record<string, Value>>, ts = this.now + 1): void {
    this.commit(ts, (context) => writeVersion(context, ref, new Map(Object.entries(fields))));
  }

  put(
    collection: Ref,
    id: number | bigint,
    data: Readonly<Record<string, Value>>,
    ts?: Micros,
  ): Ref {
    const ref = documentRef(collection, id);
    this.write(ref, { data: new Map(Object.entries(data)) }, ts);
    return ref;
  }

  remove(ref: Ref): void {
    this.commit(this.now + 1, (context) => deleteDocument(context, ref));
  }

  commit<T>(ts: Micros, body: (context: EngineContext) => T): T {
    const own = new Overlay(this.base);
    const result = body(this.context(own, own, ts));
    this.base.absorb(own.writes());
    this.now = Math.max(this.now, ts);
    return result;
  }

  /** Reads as a host does: fetches what is missing and executes the body again. */
  read<T>(body: (context: EngineContext) => T): T {
    const facts = new Facts(this.base);
    this.fetches = [];
    for (;;) {
      try {
        return body(this.context(facts, undefined, this.now + 1));
      } catch (reason) {
        if (!(reason instanceof Suspended)) throw reason;
        this.fetches.push(reason.needs);
        facts.fetch(reason.needs);
      }
    }
  }

  context(reader: Reader, writer: Overlay | undefined, commitTs: Micros): EngineContext {
    const lambdas: Lambdas = {
      apply: (lambda, argument, _limit, time = 'present') => {
        const body = this.bodies.get(lambda.wire);
        if (!body) throw new Error(`no lambda ${lambda.wire}`);
        return body(argument, time);
      },
      isolated: unused,
    };
    const parts: ContextParts = {
      reader,
      writer,
      snapshot: this.now,
      now: undefined,
      commitTs,
      apiVersion: '4',
      caller: rootCaller(DATABASE),
      inputs: NO_INPUTS,
      meters: new Meters({ spend: () => undefined, isSpent: false }),
      schema: schemasOver(reader, reader),
      rewritten: new Set(),
      atEnd: [],
    };
    return createContext(parts, () => this.permissions, lambdas);
  }
}

const unused = (): never => {
  throw new Error('sets need no inputs');
};
const NO_INPUTS = {
  rootAudience: undefined,
  mayFetch: undefined,
  newId: unused,
  newOwnId: unused,
  randomBytes: unused,
  lookedUp: {},
  sha256: unused,
  hash: unused,
  verify: unused,
};

export const documentRef = (collection: Ref, id: number | bigint): Ref =>
  new Ref(collection.database, Number(collection.id), BigInt(id));

export const match = (index: Ref, ...terms: readonly Value[]): SetValue => ({
  kind: 'set',
  op: 'match',
  index,
  terms,
});

export const documents = (collection: Ref): SetValue => ({
  kind: 'set',
  op: 'documents',
  collection,
});

export const object = (members: Readonly<Record<string, Value>>): ObjectValue =>
  new Map(Object.entries(members));

/** A reader that has only the data that was fetched. */
class Facts implements Reader {
  private readonly base: Reader;
  private readonly rows = new Map<string, Row | undefined>();
  private readonly ranges = new Map<string, readonly Entry[]>();

  constructor(base: Reader) {
    this.base = base;
  }

  row(address: RowAddress): Row | undefined {
    const name = address.space + address.key;
    if (!this.rows.has(name)) throw new Suspended([{ kind: 'row', address }]);
    return this.rows.get(name);
  }

  range(range: Range): readonly Entry[] {
    const known = this.ranges.get(JSON.stringify(range));
    if (!known) throw new Suspended([{ kind: 'range', range }]);
    return known;
  }

  fetch(needs: readonly Need[]): void {
    for (const need of needs) {
      if (need.kind === 'row') {
        this.rows.set(need.address.space + need.address.key, this.base.row(need.address));
      } else if (need.kind === 'range') this.fetchRange(need.range);
    }
  }

  private fetchRange(range: Range): void {
    const found = this.base.range(range);
    this.ranges.set(
      JSON.stringify(range),
      found.map((each) => (range.rows ? each : { ...each, row: undefined })),
    );
    if (!range.rows) return;
    for (const { key, row } of found) this.rows.set(range.space + key, row);
  }
}
