/**
 * Generates a file of types for a database whose app has no typed schema: from its collections, its indexes, and some documents of each
 * collection.
 */
import {
  Bytes,
  FaunaDate,
  FaunaTime,
  Query,
  Ref,
  SetRef,
  Uuid,
  q,
  type Arg,
} from '../src/index.ts';

/** A client with an admin or server secret. */
interface Asked {
  query(expression: Arg): Promise<unknown>;
}

/** How many documents of each collection are read: the first ones. */
const SAMPLE = 100;
const NAMES_MAX = 100_000;
const UNKNOWN = 'unknown';

/** The values that have been seen in one place. */
interface Shape {
  /** Types that are written as their names. */
  readonly names: Set<string>;
  /** Collections that refs refer to. */
  readonly refs: Set<string>;
  /** Shape of the elements, if there were arrays. */
  elements: Shape | undefined;
  /** Members of objects, and the number of objects in which each occurred. */
  members: Map<string, { readonly shape: Shape; seen: number }> | undefined;
  objects: number;
}

const emptyShape = (): Shape => ({
  names: new Set(),
  refs: new Set(),
  elements: undefined,
  members: undefined,
  objects: 0,
});

const CLASSES = { Bytes, FaunaDate, FaunaTime, Query, SetRef, Uuid };

function note(shape: Shape, value: unknown): void {
  if (Array.isArray(value)) {
    const elements = (shape.elements ??= emptyShape());
    for (const each of value) note(elements, each);
  } else if (value instanceof Ref) {
    if (value.collection) shape.refs.add(value.collection.id);
    else shape.names.add('Ref');
  } else if (typeof value === 'object' && value !== null) {
    const name = Object.entries(CLASSES).find(([, type]) => value instanceof type)?.[0];
    if (name === undefined) addMembers(shape, value);
    else shape.names.add(name);
  } else if (value !== null && value !== undefined) {
    shape.names.add(typeof value);
  }
}

function addMembers(shape: Shape, value: object): void {
  shape.objects += 1;
  const members = (shape.members ??= new Map());
  for (const [name, each] of Object.entries(value)) {
    if (each === null) continue;
    const member = members.get(name) ?? { shape: emptyShape(), seen: 0 };
    members.set(name, member);
    member.seen += 1;
    note(member.shape, each);
  }
}

interface StoredIndex {
  readonly name: string;
  readonly source: unknown;
  readonly terms?: IndexParts;
  readonly values?: IndexParts;
}

/** Terms or values, as they were passed when the index was created. */
type IndexParts = IndexPart | readonly IndexPart[] | null;

interface IndexPart {
  readonly field?: string | readonly string[];
}

const partsIn = (parts: IndexParts = []): readonly IndexPart[] => [parts ?? []].flat();

interface Described {
  readonly id: string;
  readonly type: string;
  readonly constant: string;
  readonly shape: Shape;
  readonly documents: number;
}

/**
 * Returns the text of the file. It describes what a sample of documents contains: a member that is missing in some of them is optional,
 * and a member for which no value was seen has the type `unknown`.
 * @param from where the database is, for the first line of the file
 */
export async function typeFile(client: Asked, from: string): Promise<string> {
  const names = (await client.query(namesOf(q.Collections()))) as readonly string[];
  const indexes = (await client.query(
    q.Select(
      'data',
      q.Map(q.Paginate(q.Indexes(), { size: NAMES_MAX }), (ref) => q.Get(ref)),
    ),
  )) as readonly StoredIndex[];
  const taken = new Set<string>(['q']);
  const collections: Described[] = [];
  for (const id of [...names].sort()) {
    const page = q.Paginate(q.Documents(q.Collection(id)), { size: SAMPLE });
    const sample = q.Select(
      'data',
      q.Map(page, (ref) => q.Select('data', q.Get(ref), {})),
    );
    const documents = (await client.query(sample)) as readonly unknown[];
    const shape = emptyShape();
    for (const each of documents) note(shape, each);
    const described = { shape, documents: documents.length };
    const type = identifier(id, 'upper', taken);
    collections.push({ id, type, constant: identifier(id, 'lower', taken), ...described });
  }
  const writer = new TypeWriter(collections);
  const body = [
    ...collections.map((each) => writer.collection(each)),
    ...[...indexes]
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .map((each) => writer.index(each, identifier(each.name, 'lower', taken))),
  ];
  return `// Written by \`burrow types\` from ${from}: its collections and indexes, and up to ${SAMPLE} documents of each.\n${writer.imports()}\n\n${body.join('\n\n')}\n`;
}

const namesOf = (set: Arg): Arg =>
  q.Select(
    'data',
    q.Map(q.Paginate(set, { size: NAMES_MAX }), (ref) => q.Select('id', ref)),
  );

class TypeWriter {
  private readonly collections: ReadonlyMap<string, Described>;
  private readonly used = new Set<string>();

  constructor(collections: readonly Described[]) {
    this.collections = new Map(collections.map((each) => [each.id, each]));
  }

  collection({ id, type, constant, shape, documents }: Described): string {
    const seen = documents === 0 ? 'no document was there' : `of ${documents} documents`;
    const members = shape.members
      ? this.members(shape, '')
      : '{\n  readonly [name: string]: unknown;\n}';
    return `/** ${JSON.stringify(id)}: ${seen}. */\nexport interface ${type} ${members}\nexport const ${constant} = q.Collection<${type}>(${JSON.stringify(id)});`;
  }

  index({ name, source, ...made }: StoredIndex, constant: string): string {
    const [terms, values] = [partsIn(made.terms), partsIn(made.values)];
    const of = source instanceof Ref ? this.collections.get(source.id) : undefined;
    const typeAt = (part: IndexPart): string => this.part(part, of);
    const types = (values.length > 0 ? values : [{ field: 'ref' }]).map(typeAt);
    const entry = types.length === 1 ? types[0] : `[${types.join(', ')}]`;
    const parameters = terms.map((part, at) => `term${at + 1}: ${this.argument(typeAt(part))}`);
    const given = terms.map((_, at) => `, term${at + 1}`).join('');
    return `export const ${constant} = (${parameters.join(', ')}) =>\n  q.Match<${entry}>(q.Index(${JSON.stringify(name)})${given});`;
  }

  /** The imports that the previously written declarations need. */
  imports(): string {
    const types = [...this.used].sort().map((name) => `, type ${name}`);
    return `import { q${types.join('')} } from 'burrowdb';`;
  }

  private argument(type: string): string {
    this.used.add(type === UNKNOWN ? 'Arg' : 'Expr');
    return type === UNKNOWN ? 'Arg' : `${type} | Expr<${type}>`;
  }

  private part({ field }: IndexPart, of: Described | undefined): string {
    if (of === undefined || field === undefined) return UNKNOWN;
    const [first, ...path] = typeof field === 'string' ? [field] : field;
    if (first === 'ref') return this.ref(of.id);
    if (first === 'ts') return 'number';
    let shape: Shape | undefined = of.shape;
    for (const name of first === 'data' ? path : []) shape = shape?.members?.get(name)?.shape;
    if (first !== 'data' || !shape) return UNKNOWN;
    // An index has an entry for each element of an array.
    return this.shape(shape.elements ?? shape, '');
  }

  private shape(shape: Shape, indent: string): string {
    const names = [...shape.names].sort();
    for (const name of names) if (/^[A-Z]/.test(name)) this.used.add(name);
    const types = [
      ...names,
      ...[...shape.refs].sort().map((id) => this.ref(id)),
      ...(shape.elements ? [this.array(shape.elements, indent)] : []),
      ...(shape.members ? [this.members(shape, indent)] : []),
    ];
    return types.length === 0 ? UNKNOWN : types.join(' | ');
  }

  private array(elements: Shape, indent: string): string {
    const type = this.shape(elements, indent);
    return `readonly ${type.includes(' | ') ? `(${type})` : type}[]`;
  }

  private ref(id: string): string {
    const type = this.collections.get(id)?.type;
    this.used.add(type === undefined ? 'Ref' : 'DocumentRef');
    return type === undefined ? 'Ref' : `DocumentRef<${type}>`;
  }

  private members({ members, objects }: Shape, indent: string): string {
    const inner = `${indent}  `;
    const lines = [...(members ?? [])].map(([name, { shape, seen }]) => {
      const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
      return `${inner}readonly ${key}${seen < objects ? '?' : ''}: ${this.shape(shape, inner)};`;
    });
    return `{\n${lines.join('\n')}\n${indent}}`;
  }
}

/** `tags_by_name` → `TagsByName` or `tagsByName`, with a number appended if the name is taken. */
function identifier(name: string, first: 'upper' | 'lower', taken: Set<string>): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  const cased = first === 'upper' ? joined : joined.charAt(0).toLowerCase() + joined.slice(1);
  const start = /^[A-Za-z]/.test(cased) ? cased : `_${cased}`;
  let free = start;
  for (let number = 2; taken.has(free) || RESERVED.test(free); number += 1)
    free = `${start}${number}`;
  taken.add(free);
  return free;
}

const RESERVED =
  /^(?:arguments|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|eval|export|extends|false|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|package|private|protected|public|return|static|super|switch|this|throw|true|try|typeof|undefined|var|void|while|with|yield|await|Arg|Bytes|DocumentRef|Expr|FaunaDate|FaunaTime|Query|Ref|SetRef|Uuid)$/;
