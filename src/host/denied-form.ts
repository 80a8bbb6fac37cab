/** Describes what a query was denied, for those who run the database. The caller of the query does not get this description. */
import { NATIVE_KINDS } from '../values/native-kinds.ts';

/** Longer queries are not parsed again for this. */
const QUERY_CHARS_MAX = 65_536;
const NAMED = ['collection', 'index', 'function', 'role', 'database'] as const;

/** The form at a position, and the first schema object that it names. Values are left out, because they are data of users. */
export function deniedForm(query: string, position: readonly (string | number)[]): string {
  const place = position.length > 0 ? ` at ${position.join('.')}` : '';
  if (query.length > QUERY_CHARS_MAX) return `the query${place}`;
  let form: unknown = parsed(query);
  // The last step of the position may be the key that gives the form its name.
  const last = position.length - 1;
  for (const [at, step] of position.entries())
    if (at < last || nameOf(form) !== step) form = memberOf(form, step);
  return `${nameOf(form) ?? 'the query'}${namedIn(form) ?? resourceIn(form) ?? ''}${place}`;
}

/** Forms whose own argument names a schema object, and the kind of the object. */
const NAMED_BY: Readonly<Record<string, string>> = { call: 'function', create: 'collection' };

function namedIn(form: unknown): string | undefined {
  const verb = nameOf(form) ?? '';
  const name = memberOf(form, verb);
  const kind = NAMED_BY[verb];
  return kind !== undefined && typeof name === 'string' ? resource(kind, name) : undefined;
}

const resource = (kind: string, name: string): string => ` of ${kind} '${name}'`;

function parsed(query: string): unknown {
  try {
    return JSON.parse(query);
  } catch {
    return undefined;
  }
}

const isForm = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const nameOf = (form: unknown): string | undefined =>
  isForm(form) ? Object.keys(form)[0] : undefined;

const memberOf = (value: unknown, step: string | number): unknown =>
  typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string | number, unknown>>)[step]
    : undefined;

/** The schema object of a ref in value form, as drivers send it back from results: the object itself, or the collection of a document. */
function resourceOfRef(ref: unknown): string | undefined {
  const home = memberOf(memberOf(ref, 'collection'), '@ref');
  const [name, homeName] = [memberOf(ref, 'id'), memberOf(home, 'id')];
  if (memberOf(home, 'collection') === undefined) {
    const kind = isNativeName(homeName) ? NATIVE_KINDS[homeName].singular : undefined;
    return kind && resource(kind, String(name));
  }
  return resourceOfRef(home);
}

const isNativeName = (name: unknown): name is keyof typeof NATIVE_KINDS =>
  typeof name === 'string' && Object.hasOwn(NATIVE_KINDS, name);

const DEPTH_MAX = 8;
/** Forms whose members are data, whatever their names. */
const DATA: ReadonlySet<string> = new Set(['object', '@obj', 'let']);

function resourceIn(value: unknown, depth = 0): string | undefined {
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return undefined;
  if (isForm(value)) {
    const kind = NAMED.find((each) => typeof value[each] === 'string');
    if (kind) return resource(kind, String(value[kind]));
    if ('@ref' in value) return resourceOfRef(value['@ref']);
  }
  for (const [name, each] of Object.entries(value)) {
    if (DATA.has(name)) continue;
    const found = resourceIn(each, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
