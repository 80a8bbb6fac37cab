/** Prints an answer as a programmer would type it: `Ref(Collection("notes"), "101")`, with 1.0 and 1 distinct. */
import { NAMED } from '../client/queries/print.ts';
import { parseJson, stringifyJson, type Json, type JsonObject } from '../codec/json.ts';

const WIDTH = 96;
const STEP = '  ';
const PLAIN_NAME = /^[A-Za-z_$][\w$]*$/;

/** Prints the result in the body of an answer, or its first error. */
export function printAnswer(body: string): string {
  const json = parseJson(body);
  if (!(json instanceof Map)) return body;
  const [error] = (json.get('errors') as readonly JsonObject[] | undefined) ?? [];
  if (!error) return print(json.get('resource') ?? null, '');
  const [code, position, description] = ['code', 'position', 'description'].map((key) =>
    print(error.get(key) ?? null, ''),
  );
  return `error ${code} at ${position}: ${description}`;
}

function print(json: Json, indent: string): string {
  const short = printShort(json);
  if (short.length + indent.length <= WIDTH) return short;
  const inner = indent + STEP;
  if (Array.isArray(json)) {
    return `[\n${json.map((each: Json) => inner + print(each, inner)).join(',\n')}\n${indent}]`;
  }
  if (!(json instanceof Map) || tagOf(json)) return short;
  const members = [...json].map(([key, each]) => `${inner}${name(key)}: ${print(each, inner)}`);
  return `{\n${members.join(',\n')}\n${indent}}`;
}

const TAG = /^@(?:ref|set|ts|date|bytes|query|uuid)$/;

const tagOf = (json: JsonObject): string | undefined => {
  const [key = ''] = json.size === 1 ? json.keys() : [];
  return TAG.test(key) ? key : undefined;
};

function printShort(json: Json): string {
  if (Array.isArray(json)) return `[${json.map(printShort).join(', ')}]`;
  if (!(json instanceof Map)) return stringifyJson(json);
  const tag = tagOf(json);
  if (tag) return printTagged(tag, json.get(tag) ?? null);
  const members = [...json].map(([key, each]) => `${name(key)}: ${printShort(each)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

const name = (key: string): string => (PLAIN_NAME.test(key) ? key : JSON.stringify(key));

const CALLS: Readonly<Record<string, string>> = {
  '@ts': 'Time',
  '@date': 'Date',
  '@bytes': 'Bytes',
  '@uuid': 'Uuid',
  '@set': 'SetRef',
  '@query': 'Query',
};

const printTagged = (tag: string, inner: Json): string =>
  tag === '@ref' && inner instanceof Map ? printRef(inner) : `${CALLS[tag]}(${printShort(inner)})`;

const textOf = (json: Json | undefined): string => (typeof json === 'string' ? json : '');

function printRef(ref: JsonObject): string {
  const id = textOf(ref.get('id'));
  const collection = ref.get('collection');
  if (!(collection instanceof Map)) {
    return `${id.replace(/(?:^|_)[a-z]/g, (start) => start.replace('_', '').toUpperCase())}()`;
  }
  const kind = collection.get('@ref');
  const builder =
    kind instanceof Map && !kind.has('collection') ? NAMED[textOf(kind.get('id'))] : undefined;
  return builder
    ? `${builder}(${JSON.stringify(id)})`
    : `Ref(${printShort(collection)}, ${JSON.stringify(id)})`;
}
