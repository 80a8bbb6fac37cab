/**
 * Explains in words why a query was refused. The text contains only what the caller knows anyway: what was queried, and with which role. It
 * does not reveal what the role's predicate reads, or whether the document exists.
 */

type Json = unknown;

/** The action that each form needs a privilege for, and a verb for the sentence. */
const FORMS: Readonly<Record<string, readonly [action: string, words: string]>> = {
  get: ['read', 'read'],
  exists: ['read', 'read'],
  paginate: ['read', 'list'],
  match: ['read', 'read'],
  count: ['read', 'count'],
  update: ['write', 'change'],
  replace: ['write', 'replace'],
  create: ['create', 'create'],
  delete: ['delete', 'delete'],
  insert: ['history_write', 'change the history of'],
  remove: ['history_write', 'change the history of'],
  call: ['call', 'call'],
  create_collection: ['create', 'create'],
  create_index: ['create', 'create'],
  create_function: ['create', 'create'],
  create_role: ['create', 'create'],
  create_key: ['create', 'create'],
  create_database: ['create', 'create'],
};

const KINDS: Readonly<Record<string, string>> = {
  collections: 'collections',
  indexes: 'indexes',
  functions: 'functions',
  roles: 'roles',
  keys: 'keys',
  tokens: 'tokens',
  credentials: 'credentials',
  databases: 'databases',
};

export interface Denial {
  /** Name of the action in privileges, such as `read`. */
  readonly action: string;
  readonly sentence: string;
}

/** @param role description of the role that was checked, such as `the role “notes_reader”` */
export function denialOf(
  query: Json,
  position: readonly (string | number)[],
  role: string,
): Denial | undefined {
  const found = formAt(query, position);
  if (!found) return undefined;
  const { form, node } = found;
  const [action, words] = FORMS[form] ?? ['', ''];
  const resource = form.startsWith('create_')
    ? plural(form.slice('create_'.length))
    : (resourceIn(node[form]) ?? 'what the query refers to');
  const single = action === 'write' || action === 'delete' || form === 'get';
  const doubt = single ? ', or not this one. The error does not reveal whether it exists' : '';
  return { action, sentence: `With ${role}, you may not ${words} ${resource}${doubt}.` };
}

/** The innermost form along the error's position that may need a privilege. */
function formAt(
  query: Json,
  position: readonly (string | number)[],
): { readonly form: string; readonly node: Readonly<Record<string, Json>> } | undefined {
  let found;
  let node = query;
  for (const step of [...position, undefined]) {
    if (isObject(node)) {
      const form = Object.keys(FORMS).find((name) => Object.hasOwn(node as object, name));
      if (form !== undefined) found = { form, node };
    }
    if (step === undefined || typeof node !== 'object' || node === null) break;
    node = (node as Readonly<Record<string | number, Json>>)[step];
  }
  return found;
}

/** Describes the first named resource in the JSON, depth first. */
function resourceIn(json: Json): string | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  if (isObject(json) && isObject(json['@ref'])) return ofRef(json['@ref']);
  for (const [name, value] of Object.entries(json as Readonly<Record<string, Json>>)) {
    if (typeof value === 'string') {
      if (name === 'collection' || name === 'documents') return `documents of “${value}”`;
      if (name === 'index') return `the index “${value}”`;
      if (name === 'function' || name === 'role' || name === 'database') {
        return `the ${name} “${value}”`;
      }
    }
    if (value === null && KINDS[name] !== undefined) return KINDS[name];
    const inner = resourceIn(value);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** Describes a ref that is a value: of a document, or of a schema object such as `Collection("…")`. */
function ofRef({ id, collection }: Readonly<Record<string, Json>>): string | undefined {
  const of = isObject(collection) ? collection['@ref'] : undefined;
  if (!isObject(of) || typeof of['id'] !== 'string') return undefined;
  const kind = of['id'];
  if (of['collection'] !== undefined) return `documents of “${kind}”`;
  if (kind === 'collections') return `documents of “${String(id)}”`;
  return KINDS[kind];
}

const isObject = (json: Json): json is Readonly<Record<string, Json>> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

const plural = (word: string): string => (word.endsWith('x') ? `${word}es` : `${word}s`);
