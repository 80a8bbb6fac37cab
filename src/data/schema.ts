/** The schema in exports: what is written of each kind of object, and the order in which objects are created again. */
import { parseJson, stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import {
  NATIVE_KINDS,
  OWN_SCHEMA_NAMES,
  type NativeKindRow,
  type OwnSchemaName,
} from '../values/native-kinds.ts';
import type { Ask } from './ask.ts';
import { DataError, isRefusal } from './data-error.ts';
import { RefusedQuery } from './refusals.ts';
import {
  canonicalText,
  documentsOfPage,
  expressionOf,
  idOfRef,
  isObject,
  itemsOf,
  pageText,
  schemaName,
  schemaRefText,
  without,
  withoutEmpty,
} from './wire.ts';

export interface SchemaObject {
  readonly kind: OwnSchemaName;
  readonly name: string;
  /** The parameters of `create_…`. */
  readonly definition: JsonObject;
}

const PAGE = 100_000;

/**
 * Reads the schema objects of a database as of a time.
 * @param at expression of the time
 * @param what whether objects that may not be read are an error or left out: keys of the role `server` may not read roles
 */
export async function readSchema(
  ask: Ask,
  at: string,
  what: 'all' | 'what may be seen',
): Promise<SchemaObject[]> {
  const all: SchemaObject[] = [];
  for (const kind of OWN_SCHEMA_NAMES) {
    const query = documentsOfPage(at, pageText(`{"${kind}":null}`, PAGE));
    const page = await ask(query).catch((reason: unknown) => {
      if (what === 'all' || !isRefusal(reason, 'permission denied')) throw reason;
      return null;
    });
    const objects = itemsOf(isObject(page) ? page.get('data') : undefined);
    all.push(...objects.flatMap((each) => objectOf(kind, each)));
  }
  return all;
}

function objectOf(kind: OwnSchemaName, json: Json): SchemaObject[] {
  const name = isObject(json) ? json.get('name') : undefined;
  if (!isObject(json) || typeof name !== 'string') return [];
  const { derived = [] }: NativeKindRow = NATIVE_KINDS[kind];
  return [{ kind, name, definition: definitionIn(without(json, 'ref', 'ts', ...derived)) }];
}

/** A definition as it can be stored again: privileges and memberships of deleted resources are answered without their resource. */
const definitionIn = (json: JsonObject): JsonObject =>
  withoutEmpty(
    new Map(
      [...json].flatMap(([name, value]): [string, Json][] => {
        if (name !== 'privileges' && name !== 'membership') return [[name, value]];
        if (Array.isArray(value)) return [[name, itemsOf(value).filter(hasResource)]];
        return hasResource(value) ? [[name, value]] : [];
      }),
    ),
  );

const hasResource = (json: Json): boolean => !isObject(json) || json.has('resource');

export const schemaLine = ({ kind, definition }: SchemaObject): string =>
  `{"schema":${JSON.stringify(kind)},"definition":${stringifyJson(definition)}}`;

/** Undefined if the line is not a schema object. @throws DataError `invalid_line` */
export function schemaIn(json: JsonObject, line: number): SchemaObject | undefined {
  const named = json.get('schema');
  if (named === undefined) return undefined;
  const kind = OWN_SCHEMA_NAMES.find((each) => each === named);
  const definition = json.get('definition');
  const name = isObject(definition) ? definition.get('name') : undefined;
  if (kind && isObject(definition) && typeof name === 'string')
    return { kind, name, definition: definitionIn(definition) };
  throw new DataError('invalid_line', 'This version does not know this kind of schema object.', {
    line,
  });
}

/** `unfinished`: an object without its late members. */
export type SchemaState = 'missing' | 'same' | 'unfinished' | 'different';

/** Whether the wanted object exists. @param present the objects in the database */
export function stateOf(wanted: SchemaObject, present: readonly SchemaObject[]): SchemaState {
  const { kind, name, definition } = wanted;
  const found = present.find((each) => each.kind === kind && each.name === name)?.definition;
  if (!found) return 'missing';
  if (isSame(found, definition)) return 'same';
  return isSame(found, without(definition, ...lateMembers(wanted))) ? 'unfinished' : 'different';
}

const isSame = (one: JsonObject, other: JsonObject): boolean =>
  storedText(one) === storedText(other);

const storedText = (definition: JsonObject): string =>
  canonicalText(parseJson(expressionOf(definition)));

/** Members that may refer to objects which are created later. */
const LATE: Partial<Record<OwnSchemaName, readonly string[]>> = {
  collections: ['permissions', 'data'],
  functions: ['role'],
};

/** The members of an object that are set when all objects exist: those with refs. */
const lateMembers = ({ kind, definition }: SchemaObject): readonly string[] =>
  (LATE[kind] ?? []).filter((name) =>
    stringifyJson(definition.get(name) ?? null).includes('{"@ref":'),
  );

/**
 * Creates missing objects. Objects that differ stay, or are replaced.
 * @throws DataError `refused`
 */
export async function writeSchema(
  ask: Ask,
  wanted: readonly SchemaObject[],
  present: readonly SchemaObject[],
  replaces: boolean,
): Promise<void> {
  const late: SchemaObject[] = [];
  for (const kind of OWN_SCHEMA_NAMES) {
    for (const object of wanted.filter((each) => each.kind === kind)) {
      const state = stateOf(object, present);
      if (state === 'same' || (state === 'different' && !replaces)) continue;
      const members = lateMembers(object);
      if (members.length > 0) late.push(object);
      const definition = without(object.definition, ...members);
      if (state === 'missing') await write(ask, object, createText(kind, definition));
      else if (state === 'different') await write(ask, object, replaceText(object, definition));
    }
  }
  for (const each of late) await write(ask, each, replaceText(each, each.definition));
}

/** @throws DataError `refused`, with the name of the object */
async function write(ask: Ask, object: SchemaObject, query: string): Promise<void> {
  try {
    await ask(query);
  } catch (reason) {
    throw reason instanceof RefusedQuery ? reason.of(`the ${describeSchema(object)}`) : reason;
  }
}

const createText = (kind: OwnSchemaName, definition: JsonObject): string =>
  `{"create_${NATIVE_KINDS[kind].singular}":${paramsText(kind, definition)}}`;

const replaceText = ({ kind, name }: SchemaObject, definition: JsonObject): string =>
  `{"replace":${schemaRefText(kind, name)},"params":${paramsText(kind, definition)}}`;

function paramsText(kind: OwnSchemaName, definition: JsonObject): string {
  // A collection without `history_days` keeps its history for ever, but one that is created without it keeps it for 30 days. So null is
  // written into the text, because `expressionOf()` leaves out null.
  const text = expressionOf(definition);
  return kind === 'collections' && !definition.has('history_days')
    ? text.replace('{"object":{', '$&"history_days":null,')
    : text;
}

/** Whether an object is a unique index over a collection. */
export function isUniqueOver({ kind, definition }: SchemaObject, collection: string): boolean {
  if (kind !== 'indexes' || definition.get('unique') !== true) return false;
  const source = definition.get('source');
  const sources = Array.isArray(source) ? itemsOf(source) : [source ?? null];
  return sources.some((each) => {
    const of = isObject(each) && each.has('collection') ? each.get('collection') : each;
    // `_` stands for all collections.
    return of === '_' || idOfRef(of) === collection;
  });
}

export const describeSchema = ({ kind, name }: SchemaObject): string => schemaName(kind, name);
