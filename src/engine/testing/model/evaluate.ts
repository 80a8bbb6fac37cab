/** The reference model's evaluator: recursion over the wire query, one function for each form. */
import { PartObject, type Part } from '../query-text.ts';
import { covered, type Database } from './database.ts';
import {
  areCompatible,
  between,
  CHOICES,
  combined,
  distinct,
  elementOf,
  eventsPage,
  filtered,
  joined,
  pageOf,
  turned,
  unitedChanges,
} from './sets.ts';
import {
  cleaned,
  compare,
  Dbl,
  Doc,
  DocRef,
  equal,
  isList,
  isMembers,
  Page,
  patched,
  scalarOf,
  SetOf,
  Silent,
  wellFormed,
  Moment,
  type Change,
  type Fields,
  type Members,
  type Value,
} from './values.ts';

type Position = readonly (string | number)[];

export class Fault {
  readonly code: string;
  readonly position: Position;
  constructor(code: string, position: Position) {
    this.code = code;
    this.position = position;
  }
}

interface Scope {
  readonly names: ReadonlyMap<string, Value>;
  /** What reads see. */
  readonly time: number;
  readonly isPast: boolean;
}

type Cast<T extends Value = Value> = (value: Value, position: Position) => T;

const cast =
  <T extends Value>(is: (value: Value) => value is T): Cast<T> =>
  (value, position) => {
    if (is(value)) return value;
    throw new Fault('invalid argument', position);
  };
const isNumber = (value: Value): value is bigint | Dbl =>
  typeof value === 'bigint' || value instanceof Dbl;
const integer = cast((value): value is bigint => typeof value === 'bigint');
const boolean = cast((value): value is boolean => typeof value === 'boolean');
const string = cast((value): value is string => typeof value === 'string');
const members = cast(isMembers);
const ref = cast((value): value is DocRef => value instanceof DocRef);
const newRef: Cast<DocRef> = (value, position) => {
  if (typeof value === 'string') throw new Silent('collections by name');
  return ref(value, position);
};
const refOrSet = cast(
  (value): value is DocRef | SetOf => value instanceof DocRef || value instanceof SetOf,
);
const set: Cast<SetOf> = (value, position) => {
  if (value instanceof SetOf) return value;
  if (isList(value)) throw new Silent('algebra of arrays');
  throw new Fault('invalid argument', position);
};
const listOrPage = cast(
  (value): value is readonly Value[] | Page => isList(value) || value instanceof Page,
);
const any: Cast = (value) => value;

/** All of an array, or one; at least one. Of the elements that are wrong the first is told. */
const some =
  <T extends Value>(one: Cast<T>) =>
  (value: Value, position: Position): readonly T[] => {
    if (!isList(value)) return [one(value, position)];
    if (value.length === 0) throw new Fault('invalid argument', position);
    return value.map((each, i) => one(each, [...position, i]));
  };

export class Model {
  private readonly database: Database;
  /** Of the query: when it reads, and when it writes. */
  private snapshot = 0;
  private commitTs = 0;

  constructor(database: Database) {
    this.database = database;
  }

  /** Writes nothing when it fails. @throws Fault, Silent */
  run(query: Part, snapshot: number): Value {
    this.snapshot = snapshot;
    this.commitTs = snapshot + 1;
    this.database.snapshot = snapshot;
    const before = this.database.state();
    try {
      return this.evaluate(query, { names: new Map(), time: this.commitTs, isPast: false }, []);
    } catch (reason) {
      this.database.restore(before);
      throw reason;
    }
  }

  private evaluate(part: Part, scope: Scope, at: Position): Value {
    if (Array.isArray(part)) return this.all(part, scope, at);
    if (!(part instanceof PartObject)) return scalarOf(part);
    const keys = part.members.map(([key]) => key);
    const form = FORMS[keys[0] ?? ''];
    if (!form) throw new Silent(`no form ${keys.join()}`);
    return form(new Call(this, part, scope, at));
  }

  /** Every one is evaluated; the first fault counts. */
  all(parts: readonly Part[], scope: Scope, at: Position, keys?: readonly string[]): Value[] {
    const faults: Fault[] = [];
    const values = parts.map((part, i) => {
      try {
        return this.evaluate(part, scope, [...at, keys?.[i] ?? i]);
      } catch (fault) {
        if (!(fault instanceof Fault)) throw fault;
        faults.push(fault);
        return null;
      }
    });
    if (faults[0]) throw faults[0];
    return values;
  }

  one(part: Part, scope: Scope, at: Position): Value {
    return this.evaluate(part, scope, at);
  }

  // --- documents --------------------------------------------------------------------------------

  get(target: DocRef | SetOf, scope: Scope): Doc | undefined {
    const found = target instanceof DocRef ? target : target.tuplesAt(scope.time)[0]?.ref;
    const version = found && this.database.versionAt(found, scope.time);
    return found && version && new Doc(found, version.ts, version.fields);
  }

  write(target: DocRef, { data, ttl }: Fields, at: Position, clash: Position): Doc {
    const fields = { data: data && data.size > 0 ? data : undefined, ttl };
    this.database.write(target, this.commitTs, fields);
    for (const index of this.database.indexes) {
      if (!index.unique || index.collection !== target.collection) continue;
      if (this.database.isTaken(target, index, this.commitTs))
        throw new Fault('instance not unique', clash);
    }
    return (
      this.get(target, { names: new Map(), time: this.commitTs, isPast: false }) ?? missing(at)
    );
  }

  end(target: DocRef): void {
    this.database.write(target, this.commitTs, 'deleted');
  }

  changesOf(tuplesAt: SetOf['tuplesAt']): readonly Change[] {
    return this.database.changesOf(tuplesAt);
  }

  setOf(part: PartObject, terms: readonly Value[]): SetOf {
    const name = memberOf(part, 'index');
    const index = this.database.indexes.find((each) => each.name === name);
    if (!index) throw new Silent('no such index');
    return this.database.match(index, terms);
  }

  documentsOf(part: PartObject): SetOf {
    return this.database.documentsOf(textIn(memberOf(part, 'collection')));
  }

  /** What `at` a time sees: the present, unless it is past. */
  seenAt(ts: number): Pick<Scope, 'time' | 'isPast'> {
    const isPast = ts < this.snapshot;
    return { time: isPast ? ts : this.commitTs, isPast };
  }
}

const missing = (at: Position): never => {
  throw new Fault('instance not found', at);
};

const memberOf = (part: PartObject, key: string): Part =>
  part.members.find(([name]) => name === key)?.[1] ?? null;

const textIn = (part: Part): string => {
  if (typeof part === 'string') return part;
  throw new Silent('a name that is no text');
};

/** A form being evaluated. */
class Call {
  readonly model: Model;
  readonly part: PartObject;
  readonly scope: Scope;
  readonly at: Position;

  constructor(model: Model, part: PartObject, scope: Scope, at: Position) {
    this.model = model;
    this.part = part;
    this.scope = scope;
    this.at = at;
  }

  has(key: string): boolean {
    return this.part.members.some(([name]) => name === key);
  }

  raw(key: string): Part {
    return memberOf(this.part, key);
  }

  place(...steps: Position): Position {
    return [...this.at, ...steps];
  }

  value(key: string): Value {
    return this.model.one(this.raw(key), this.scope, this.place(key));
  }

  /** Arguments take effect from the last to the first; of those that fail the first is told. */
  arguments<T extends Readonly<Record<string, (value: Value, position: Position) => unknown>>>(
    casts: T,
  ): { readonly [K in keyof T]: ReturnType<T[K]> } {
    let fault: Fault | undefined;
    const values: Record<string, unknown> = {};
    for (const [key, each] of Object.entries(casts).toReversed()) {
      if (!this.has(key)) continue;
      try {
        values[key] = each(this.value(key), this.place(key));
      } catch (reason) {
        if (!(reason instanceof Fault)) throw reason;
        fault = reason;
      }
    }
    if (fault) throw fault;
    return values as { readonly [K in keyof T]: ReturnType<T[K]> };
  }

  /** The lambda written under `key`, applied. */
  apply(key: string, argument: Value): Value {
    const lambda = this.raw(key) as PartObject;
    const pattern = memberOf(lambda, 'lambda') as string | readonly string[];
    const names = typeof pattern === 'string' ? [pattern] : pattern;
    const values =
      typeof pattern === 'string' ? [argument] : isList(argument) ? argument : [argument];
    if (names.length !== values.length)
      throw new Fault('invalid argument', this.place(key, 'lambda'));
    const bound = names.map((name, i) => [name, values[i] ?? null] as const);
    const scope = { ...this.scope, names: new Map([...this.scope.names, ...bound]) };
    return this.model.one(memberOf(lambda, 'expr'), scope, this.place(key, 'expr'));
  }

  /** The same form, seen at a time. */
  seenAt(time: number): Call {
    return new Call(this.model, this.part, { ...this.scope, time }, this.at);
  }

  iterable(key: string): SetOf | readonly Value[] {
    const found = this.arguments({ [key]: any })[key] ?? null;
    if (found instanceof SetOf || isList(found)) return found;
    if (found instanceof Page) throw new Silent('pages turned round');
    throw new Fault('invalid argument', this.place(key));
  }

  /** Writes in the past are refused at the form, or its verb. */
  refusePast(...verb: Position): void {
    if (this.scope.isPast) throw new Fault('invalid write time', this.place(...verb));
  }

  dataOf(params: Members | undefined): Members {
    const data = params?.get('data') ?? new Map<string, Value>();
    if (isMembers(data)) return data;
    throw new Silent('data that is no object');
  }

  ttlOf(params: Members | undefined): Moment | undefined {
    const ttl = params?.get('ttl') ?? undefined;
    if (ttl === undefined || ttl instanceof Moment) return ttl;
    throw new Silent('a ttl that is no time');
  }
}

type Form = (call: Call) => Value;

function add(values: readonly (bigint | Dbl)[]): Value {
  const sum = values.reduce((a, b) => {
    if (typeof a === 'bigint' && typeof b === 'bigint') return BigInt.asIntN(64, a + b);
    const [x, y] = [a, b].map((each) => (each instanceof Dbl ? each.value : Number(each)));
    return new Dbl((x ?? 0) + (y ?? 0));
  });
  return sum;
}

function selected(from: Value, path: readonly Value[]): Value | undefined {
  let found: Value | undefined = from;
  for (const step of path) {
    if (found instanceof Doc) {
      const { ref: own, ts, fields }: Doc = found;
      found =
        step === 'ref'
          ? own
          : step === 'ts'
            ? BigInt(ts)
            : step === 'data'
              ? fields.data
              : undefined;
    } else if (found instanceof Page) found = step === 'data' ? found.data : undefined;
    else if (isList(found ?? null))
      found = typeof step === 'bigint' ? (found as readonly Value[])[Number(step)] : undefined;
    else if (isMembers(found ?? null))
      found = typeof step === 'string' ? (found as Members).get(step) : undefined;
    else if (found instanceof DocRef || found instanceof SetOf) throw new Silent('parts of refs');
    else return undefined;
  }
  return found;
}

const inPage = (collection: readonly Value[] | Page, data: readonly Value[]): Value =>
  collection instanceof Page ? new Page(collection.before, collection.after, data) : data;

const algebra =
  (op: string): Form =>
  (call) => {
    const sets = call.arguments({ [op]: some(set) })[op] ?? [];
    if (!areCompatible(sets)) throw new Fault('invalid argument', call.place(op));
    const changesOf =
      op === 'union'
        ? () => unitedChanges(sets)
        : ({ tuplesAt }: SetOf) => call.model.changesOf(tuplesAt);
    return combined(sets, CHOICES[op] as (typeof CHOICES)[string], changesOf);
  };

const logic =
  (kind: 'and' | 'or'): Form =>
  (call) => {
    const stops = kind === 'or';
    for (const [i, part] of (call.raw(kind) as readonly Part[]).entries()) {
      const value = call.model.one(part, call.scope, call.place(kind, i));
      if (boolean(value, call.place(kind, i)) === stops) return stops;
    }
    return !stops;
  };

function bindAll(call: Call): Value {
  let { scope } = call;
  for (const [i, binding] of (call.raw('let') as readonly PartObject[]).entries()) {
    const [name = '', part = null] = binding.members[0] ?? [];
    const value = call.model.one(part, scope, call.place('let', i, name));
    scope = { ...scope, names: new Map([...scope.names, [name, value]]) };
  }
  return call.model.one(call.raw('in'), scope, call.place('in'));
}

function paginate(call: Call): Value {
  const side = call.has('before') ? 'before' : 'after';
  // The order in which they are declared.
  const {
    paginate: target,
    [side]: given,
    size = 64n,
  } = call.arguments({ paginate: refOrSet, [side]: any, size: integer }) as {
    paginate: DocRef | SetOf;
    size?: bigint;
  } & Record<string, Value | undefined>;
  if (target instanceof DocRef) throw new Silent('pages of one document');
  if (call.has('events')) return events(call, target, Number(size), given, side);
  const cursor =
    given === undefined ? undefined : ({ side, given: isList(given) ? given : [given] } as const);
  return pageOf(target, call.scope.time, Number(size), cursor);
}

function events(
  call: Call,
  target: SetOf,
  size: number,
  given: Value | undefined,
  side: 'before' | 'after',
): Value {
  if (target.flags.length === 0) throw new Silent('events of joins by a lambda');
  if (!target.changes) throw new Fault('invalid argument', call.at);
  if (given !== undefined && typeof given !== 'bigint') throw new Silent('cursors of events');
  const { time, isPast } = call.scope;
  const changes = target.changes().filter(({ ts }) => !isPast || ts <= time);
  return eventsPage(changes, size, given === undefined ? given : { side, at: Number(given) });
}

const asList = (value: Value): readonly Value[] => (isList(value) ? value : [value]);

function filterSet(call: Call, collection: SetOf): SetOf {
  return filtered(collection, (tuple, time) => {
    const kept = call.seenAt(time).apply('filter', elementOf(tuple));
    if (typeof kept !== 'boolean') throw new Silent('filters of sets that are no Boolean');
    return kept;
  });
}

function join(call: Call): Value {
  const { join: source } = call.arguments({ join: set });
  if (source.flags.length === 0) throw new Silent('joins of joins by a lambda');
  const target = call.raw('with') as PartObject;
  const name = memberOf(target, 'index');
  if (name !== null) {
    const match = (terms: readonly Value[]) => call.model.setOf(target, terms);
    return joined(source, match([]).flags, (tuple) => match(covered(tuple)));
  }
  return joined(source, [], (tuple) => {
    const found = call.apply('with', elementOf(tuple));
    if (found instanceof SetOf) return found;
    throw new Silent('joins with what is no set');
  });
}

const FORMS: Readonly<Record<string, Form>> = {
  object: (call) => {
    const own = (call.raw('object') as PartObject).members;
    const escaped = own[0]?.[0] === '@obj' ? (own[0][1] as PartObject).members : undefined;
    const place = escaped ? call.place('object', '@obj') : call.place('object');
    const pairs = escaped ?? own;
    const keys = pairs.map(([key]) => key);
    const values = call.model.all(
      pairs.map(([, part]) => part),
      call.scope,
      place,
      keys,
    );
    return new Map(keys.map((key, i) => [wellFormed(key), values[i] ?? null]));
  },
  let: bindAll,
  var: (call) => call.scope.names.get(textIn(call.raw('var'))) ?? null,
  if: (call) => {
    const branch = boolean(call.value('if'), call.place('if')) ? 'then' : 'else';
    return call.value(branch);
  },
  do: (call) => {
    const parts = call.raw('do') as readonly Part[];
    return (
      parts.map((part, i) => call.model.one(part, call.scope, call.place('do', i))).at(-1) ?? null
    );
  },
  and: logic('and'),
  or: logic('or'),
  not: (call) => !call.arguments({ not: boolean }).not,
  abort: (call) => {
    call.arguments({ abort: string });
    throw new Fault('transaction aborted', call.at);
  },
  equals: (call) => {
    const { equals } = call.arguments({ equals: some(any) });
    return equals.every((each, i) => i === 0 || equal(equals[i - 1] ?? null, each));
  },
  lt: (call) => {
    const { lt } = call.arguments({ lt: some(any) });
    return lt.every((each, i) => i === 0 || compare(lt[i - 1] ?? null, each) < 0);
  },
  add: (call) => add(call.arguments({ add: some(cast(isNumber)) }).add),
  select: (call) => {
    const path = (call.raw('select') as readonly Part[]).map(scalarOf);
    const from = call.value('from');
    const found = selected(from, path);
    if (found !== undefined) return found;
    if (call.has('default')) return call.value('default');
    throw new Fault('value not found', call.place('from'));
  },
  map: (call) => {
    const { collection } = call.arguments({ collection: listOrPage });
    const list = collection instanceof Page ? collection.data : collection;
    return inPage(
      collection,
      list.map((each) => call.apply('map', each)),
    );
  },
  reduce: (call) => {
    const { initial, collection } = call.arguments({ initial: any, collection: listOrPage });
    const list = collection instanceof Page ? collection.data : collection;
    const result = list.reduce((sum, each) => call.apply('reduce', [sum, each]), initial);
    return collection instanceof Page ? inPage(collection, [result]) : result;
  },
  '@ts': (call) => new Moment(Date.parse(textIn(call.raw('@ts'))) * 1000),
  filter: (call) => {
    const { collection } = call.arguments({ collection: any });
    if (collection instanceof SetOf) return filterSet(call, collection);
    const checked = listOrPage(collection, call.place('collection'));
    const faults: Fault[] = [];
    const kept = (checked instanceof Page ? checked.data : checked).filter((each, i) => {
      try {
        return boolean(call.apply('filter', each), call.place(i));
      } catch (fault) {
        if (!(fault instanceof Fault)) throw fault;
        faults.push(fault);
        return false;
      }
    });
    if (faults[0]) throw faults[0];
    return inPage(checked, kept);
  },
  count: (call) => {
    const { count } = call.arguments({ count: any });
    if (count instanceof SetOf) return BigInt(count.tuplesAt(call.scope.time).length);
    const checked = listOrPage(count, call.place('count'));
    return checked instanceof Page
      ? inPage(checked, [BigInt(checked.data.length)])
      : BigInt(checked.length);
  },
  ref: (call) =>
    new DocRef(
      textIn(memberOf(call.raw('ref') as PartObject, 'collection')),
      BigInt(textIn(call.raw('id'))),
    ),
  documents: (call) => call.model.documentsOf(call.raw('documents') as PartObject),
  match: (call) => {
    const { terms = [] } = call.arguments({ terms: any }) as { terms?: Value };
    return call.model.setOf(call.raw('match') as PartObject, isList(terms) ? terms : [terms]);
  },
  union: algebra('union'),
  intersection: algebra('intersection'),
  difference: algebra('difference'),
  range: (call) => {
    const { range, from, to } = call.arguments({ range: set, from: any, to: any });
    return between(range, asList(from), asList(to));
  },
  join,
  distinct: (call) => {
    const found = call.iterable('distinct');
    if (found instanceof SetOf) return distinct(found);
    return found.filter((each, i) => !found.slice(0, i).some((other) => equal([other], [each])));
  },
  reverse: (call) => {
    const found = call.iterable('reverse');
    return found instanceof SetOf ? turned(found) : found.toReversed();
  },
  at: (call) => {
    const time = integer(call.value('at'), call.place('at'));
    const scope = { ...call.scope, ...call.model.seenAt(Number(time)) };
    return call.model.one(call.raw('expr'), scope, call.place('expr'));
  },
  get: (call) =>
    call.model.get(call.arguments({ get: refOrSet }).get, call.scope) ?? missing(call.at),
  exists: (call) =>
    call.model.get(call.arguments({ exists: refOrSet }).exists, call.scope) !== undefined,
  paginate,
  create: (call) => {
    const { create, params } = call.arguments({ create: newRef, params: members });
    call.refusePast('create');
    const data = cleaned(call.dataOf(params)) as Members;
    const ttl = call.ttlOf(params);
    if (call.model.get(create, call.scope))
      throw new Fault('instance already exists', call.place('create'));
    return call.model.write(create, { data, ttl }, call.at, call.place('create'));
  },
  update: (call) => {
    const { update, params } = call.arguments({ update: ref, params: members });
    call.refusePast();
    const before = call.model.get(update, call.scope) ?? missing(call.place('update'));
    const { data, ttl } = before.fields;
    const fields = {
      data: patched(data ?? new Map(), call.dataOf(params)),
      ttl: params?.has('ttl') ? call.ttlOf(params) : ttl,
    };
    return call.model.write(update, fields, call.at, call.at);
  },
  replace: (call) => {
    const { replace, params } = call.arguments({ replace: ref, params: members });
    call.refusePast();
    if (!call.model.get(replace, call.scope)) missing(call.place('replace'));
    const fields = { data: cleaned(call.dataOf(params)) as Members, ttl: call.ttlOf(params) };
    return call.model.write(replace, fields, call.at, call.at);
  },
  delete: (call) => {
    const { delete: target } = call.arguments({ delete: ref });
    if (call.scope.isPast) throw new Silent('deletes in the past');
    const before = call.model.get(target, call.scope) ?? missing(call.at);
    call.model.end(target);
    return before;
  },
};
