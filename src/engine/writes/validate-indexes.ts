/** Validation of indexes. Spec: sets 2.1, 2.4. */
import type { Step } from '../../errors.ts';
import { buildSynchronously } from '../documents/index-build.ts';
import { effectOf } from '../../query/lambda-value.ts';
import { isArray, isInteger, isKind, isObject } from '../../values/value.ts';
import type { Lambda, ObjectValue, Value } from '../../values/value.ts';
import { oneOrMany } from '../catalog/definitions.ts';
import {
  checkData,
  checkInteger,
  checkName,
  eachOf,
  isBoolean,
  optional,
  refuse,
  refuseMissing,
  refuseReference,
  refuseType,
  type Draft,
  type Kind,
} from './draft.ts';
import { checkPermissions } from './check-permissions.ts';
import { isThere, storedOriginal } from './written-back-refs.ts';
import { refuseMisspelt } from './misspelt.ts';
import { isSameStored } from '../documents/stored-values.ts';
import { NATIVE } from '../../values/native-kinds.ts';

export const INDEX: Kind = {
  refusesMisspelt: true,
  accepts: [
    'name',
    'source',
    'terms',
    'values',
    'unique',
    'serialized',
    'partitions',
    'active',
    'data',
    'permissions',
  ],
  order: [
    'active',
    'serialized',
    'name',
    'source',
    'partitions',
    'terms',
    'values',
    'unique',
    'data',
    'permissions',
    'building',
  ],
  kept: ['name', 'unique', 'active', 'building'],
  check(draft) {
    checkName(draft);
    checkSource(draft);
    checkFields(draft, 'terms');
    checkFields(draft, 'values');
    checkBindingsUsed(draft);
    optional(draft, 'unique', 'Boolean', isBoolean);
    setDefault(draft, 'serialized', true);
    setDefault(draft, 'active', false);
    if (draft.previous?.get('active') === true) draft.fields.set('active', true);
    else if (draft.previous && draft.fields.get('active') === true) {
      // Set active by the user before it is complete: its build continues.
      draft.fields.set('building', true);
    }
    checkPartitions(draft);
    checkData(draft);
    checkPermissions(draft, ['read']);
    checkShapeKept(draft);
  },
  /** Small sources are indexed at once, large ones by a background job. The result of the creation shows neither. */
  afterWrite({ context, mode, ref }) {
    const index = context.schema(ref.database).index(ref);
    if (mode === 'create' && index) buildSynchronously(context, index);
  },
};

function setDefault(draft: Draft, name: string, value: boolean): void {
  if (!draft.fields.has(name)) draft.fields.set(name, value);
  else optional(draft, name, 'Boolean', isBoolean);
}

const PARTITIONS_MAX = 8;

/** Whether all documents of a collection have the same term tuple. */
function isOneForAll({ fields }: Draft): boolean {
  const [term, ...others] = oneOrMany(fields.get('terms'));
  return term === undefined || (others.length === 0 && isOfClass(term));
}

function isOfClass(term: Value): boolean {
  const steps = isObject(term) && !term.has('binding') ? oneOrMany(term.get('field')) : [];
  return steps.length === 1 && steps[0] === 'class';
}

/** Partitions have no meaning in this storage. They are shown, and counted in `readOps`, as in the original. */
function checkPartitions(draft: Draft): void {
  const given = checkInteger(draft, 'partitions');
  if (given === undefined) {
    if (!draft.fields.has('partitions')) {
      const usual = isOneForAll(draft) ? PARTITIONS_MAX : 1;
      draft.fields.set('partitions', draft.previous?.get('partitions') ?? usual);
    }
  } else if (given < 1 || given > PARTITIONS_MAX) {
    refuse(draft, ['partitions'], 'bounds error', `Value must be from 1 to ${PARTITIONS_MAX}.`);
  }
}

/** Programs look for this text, and then create the index again. */
const SHAPE_STAYS = 'Index sources, terms, values, and partition count may not be updated.';

/** Refuses changes of the sources, terms, values and partitions of an index. */
function checkShapeKept(draft: Draft): void {
  const { previous, fields, failures } = draft;
  if (!previous || failures.length > 0) return;
  const isKept = (name: string) =>
    isSameStored(previous.get(name) ?? null, fields.get(name) ?? null);
  for (const name of ['source', 'terms', 'values'] as const) {
    if (!isKept(name)) refuse(draft, [name], 'invalid index', SHAPE_STAYS);
  }
  const isShared = fields.get('partitions') !== 1;
  const togglesUnique = (previous.get('unique') === true) !== (fields.get('unique') === true);
  if (!isKept('partitions') || (isShared && togglesUnique)) {
    refuse(draft, ['partitions'], 'invalid index', SHAPE_STAYS);
  }
}

// --- source -------------------------------------------------------------------------------------

function checkSource(draft: Draft): void {
  const given = draft.fields.get('source');
  if (given === undefined) {
    refuseMissing(draft, ['source']);
    return;
  }
  const stored = storedOriginal(draft.context, given, [draft.previous?.get('source') ?? null]);
  if (stored !== undefined) {
    draft.fields.set('source', stored);
    return;
  }
  const members = oneOrMany(given).map((each, i) =>
    isObject(each)
      ? checkSourceObject(draft, each, i, isArray(given) ? ['source', i] : ['source'])
      : checkCollection(draft, each),
  );
  draft.fields.set('source', isArray(given) ? members : (members[0] ?? null));
  if (isArray(given)) checkWildcards(draft, members);
}

/** `class` is the old name of `collection`. */
function checkSourceObject(
  draft: Draft,
  given: ObjectValue,
  position: number,
  field: readonly Step[],
): ObjectValue {
  refuseMisspelt(draft, given, ['collection', 'class', 'fields'], field);
  const source = new Map<string, Value>();
  const collection = given.get('class') ?? given.get('collection');
  if (collection === undefined) refuseMissing(draft, ['class']);
  else if (isArray(collection)) {
    for (const each of collection) {
      if (each === '_') refuseType(draft, ['class'], each, 'Collection Ref');
      else checkCollection(draft, each);
    }
    source.set('collection', collection);
  } else source.set('collection', checkCollection(draft, collection));
  const fields = given.get('fields');
  if (fields === undefined) return source;
  eachOf(fields, []).forEach(([each], j) => {
    if (isObject(each)) checkBindings(draft, each, ['source', position, 'fields', j]);
    else refuseType(draft, ['source', position, 'fields', j], each, 'Map');
  });
  return source.set('fields', fields);
}

function checkCollection(draft: Draft, value: Value): Value {
  if (value === '_') return value;
  if (!isKind(value, 'ref') || value.collection !== NATIVE.collections) {
    refuseType(draft, ['source'], value, 'Collection Ref');
  } else if (value.id === BigInt(NATIVE.databases)) {
    refuseReference(draft, ['source']);
  } else if (!isThere(draft.context, value)) {
    refuseReference(draft, ['source']);
  }
  return value;
}

function checkBindings(draft: Draft, bindings: ObjectValue, field: readonly Step[]): void {
  for (const [name, each] of bindings) {
    if (!isKind(each, 'lambda')) refuseType(draft, [...field, name], each, 'Lambda');
    else if (!isPureUnary(each)) {
      const text = 'Field binding must be a pure unary function.';
      refuse(draft, [...field, name], 'invalid binding', text);
    }
  }
}

const isPureUnary = (lambda: Lambda): boolean =>
  effectOf(lambda) === 'pure' &&
  (typeof lambda.pattern === 'string' || lambda.pattern.length === 1);

const collectionIn = (source: Value): Value =>
  isObject(source) ? (source.get('collection') ?? null) : source;

function checkWildcards(draft: Draft, sources: readonly Value[]): void {
  const sets = sources.map((each) => setName(collectionIn(each)));
  const wildcards = sets.filter((each) => each === '_').length;
  if (wildcards > 1) {
    refuse(draft, ['source'], 'multiple wildcards', 'There can be only one wildcard.');
  } else if (new Set(sets).size < sets.length) {
    refuse(draft, ['source'], 'multiple bindings', 'A collection may be given only once.');
  }
  const hasBindings = sources.some((each) => isObject(each) && each.has('fields'));
  if (wildcards > 0 && sources.length > 1 && !hasBindings) {
    refuse(draft, ['source'], 'mixed wildcards', 'A wildcard covers every other collection.');
  }
}

/** A name for the set of collections, independent of how and in which order they are written. */
const setName = (collection: Value): string =>
  collection === '_'
    ? '_'
    : oneOrMany(collection)
        .map((each) => (isKind(each, 'ref') ? String(each.id) : ''))
        .sort()
        .join(' ');

// --- terms and values ---------------------------------------------------------------------------

const FIELD_MEMBERS = ['field', 'binding', 'reverse', 'transform', 'mva'];

function checkFields(draft: Draft, name: 'terms' | 'values'): void {
  const given = draft.fields.get(name);
  if (given === undefined) return;
  const checked = eachOf(given, [name]).map(([each, field]): Value => {
    if (isObject(each)) return checkField(draft, each, field);
    refuseType(draft, field, each, 'Map');
    return each;
  });
  draft.fields.set(name, isArray(given) ? checked : (checked[0] ?? null));
}

function checkField(draft: Draft, given: ObjectValue, field: readonly Step[]): ObjectValue {
  refuseMisspelt(draft, given, FIELD_MEMBERS, field);
  const path = given.get('field');
  const binding = given.get('binding');
  if (path === undefined && binding === undefined) {
    const text = 'Must provide one of the following: field, binding';
    refuse(draft, field, 'value required', text);
  }
  if (path !== undefined && !isPath(path)) refuseType(draft, [...field, 'field'], path, 'Path');
  if (binding !== undefined && typeof binding !== 'string') {
    refuseType(draft, [...field, 'binding'], binding, 'String');
  }
  for (const flag of ['reverse', 'mva']) {
    const value = given.get(flag);
    if (value !== undefined && typeof value !== 'boolean') {
      refuseType(draft, [...field, flag], value, 'Boolean');
    }
  }
  checkTransform(draft, given.get('transform'), [...field, 'transform']);
  return new Map([...given].filter(([name]) => FIELD_MEMBERS.includes(name)));
}

function checkTransform(draft: Draft, value: Value | undefined, field: readonly Step[]): void {
  if (value === undefined || value === 'casefold') return;
  if (typeof value !== 'string') refuseType(draft, field, value, 'String');
  else refuse(draft, field, 'invalid value', `Unknown transform '${value}'.`);
}

const isPath = (value: Value): boolean =>
  isArray(value)
    ? value.length > 0 && value.every((step) => typeof step === 'string' || isInteger(step))
    : typeof value === 'string';

function checkBindingsUsed(draft: Draft): void {
  const used = new Set<Value>();
  for (const name of ['terms', 'values']) {
    for (const each of oneOrMany(draft.fields.get(name))) {
      if (isObject(each)) used.add(each.get('binding') ?? null);
    }
  }
  oneOrMany(draft.fields.get('source')).forEach((source, i) => {
    const fields = isObject(source) ? source.get('fields') : undefined;
    oneOrMany(fields).forEach((bindings, j) => {
      if (!isObject(bindings)) return;
      for (const name of bindings.keys()) {
        if (used.has(name)) continue;
        const field = ['source', i, 'fields', j, name];
        refuse(draft, field, 'unused binding', 'Field binding is not used by any term or value.');
      }
    });
  });
}
