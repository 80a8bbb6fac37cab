/** Forms of the reference model for plain values, and forms that contain others. */
import type { Part, PartObject } from '../query-text.ts';
import { textIn, type Call, type Form } from './call.ts';
import { any, boolean, Fault, listOrPage, number, some, string } from './casts.ts';
import { filterSet } from './set-forms.ts';
import {
  compare,
  Dbl,
  Doc,
  DocRef,
  equal,
  isList,
  isMembers,
  Moment,
  Page,
  scalarOf,
  SetOf,
  Silent,
  wellFormed,
  type Members,
  type Value,
} from './values.ts';

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

const logic =
  (kind: 'and' | 'or'): Form =>
  (call) => {
    const stops = kind === 'or';
    for (const [i, part] of (call.raw(kind) as readonly Part[]).entries()) {
      const value = call.model.one(part, call.scope, call.path(kind, i));
      if (boolean(value, call.path(kind, i)) === stops) return stops;
    }
    return !stops;
  };

function bindAll(call: Call): Value {
  let { scope } = call;
  for (const [i, binding] of (call.raw('let') as readonly PartObject[]).entries()) {
    const [name = '', part = null] = binding.members[0] ?? [];
    const value = call.model.one(part, scope, call.path('let', i, name));
    scope = { ...scope, names: new Map([...scope.names, [name, value]]) };
  }
  return call.model.one(call.raw('in'), scope, call.path('in'));
}

export const PLAIN_FORMS: Readonly<Record<string, Form>> = {
  object: (call) => {
    const own = (call.raw('object') as PartObject).members;
    const escaped = own[0]?.[0] === '@obj' ? (own[0][1] as PartObject).members : undefined;
    const queryPath = escaped ? call.path('object', '@obj') : call.path('object');
    const pairs = escaped ?? own;
    const keys = pairs.map(([key]) => key);
    const values = call.model.all(
      pairs.map(([, part]) => part),
      call.scope,
      queryPath,
      keys,
    );
    return new Map(keys.map((key, i) => [wellFormed(key), values[i] ?? null]));
  },
  let: bindAll,
  var: (call) => call.scope.names.get(textIn(call.raw('var'))) ?? null,
  if: (call) => {
    const branch = boolean(call.value('if'), call.path('if')) ? 'then' : 'else';
    return call.value(branch);
  },
  do: (call) => {
    const parts = call.raw('do') as readonly Part[];
    return (
      parts.map((part, i) => call.model.one(part, call.scope, call.path('do', i))).at(-1) ?? null
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
  add: (call) => add(call.arguments({ add: some(number) }).add),
  select: (call) => {
    const path = (call.raw('select') as readonly Part[]).map(scalarOf);
    const from = call.value('from');
    const found = selected(from, path);
    if (found !== undefined) return found;
    if (call.has('default')) return call.value('default');
    throw new Fault('value not found', call.path('from'));
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
    const checked = listOrPage(collection, call.path('collection'));
    const faults: Fault[] = [];
    const kept = (checked instanceof Page ? checked.data : checked).filter((each, i) => {
      try {
        return boolean(call.apply('filter', each), call.path(i));
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
    const checked = listOrPage(count, call.path('count'));
    return checked instanceof Page
      ? inPage(checked, [BigInt(checked.data.length)])
      : BigInt(checked.length);
  },
};
