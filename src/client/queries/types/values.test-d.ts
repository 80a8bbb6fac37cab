/** Types follow values through a query: from the collection that the caller describes to the result of the client. */
import {
  FaunaDate,
  q,
  type Client,
  type CollectionRef,
  type Data,
  type StoredDocument,
  type DocumentRef,
  type FaunaTime,
  type HistoryEvent,
  type Expr,
  type Page,
  type PageHelper,
  type Ref,
  type SetRef,
  type Sourced,
} from '../../../index.ts';

interface Author {
  name: string;
}
interface Note {
  title: string;
  tags: string[];
  stars: number;
  place?: { lat: number; lon: number };
  author: DocumentRef<Author>;
}

declare const client: Client;

/* oxlint-disable typescript/no-unnecessary-type-parameters -- compared as such, functions tell any and unknown apart */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/* oxlint-enable typescript/no-unnecessary-type-parameters */
const check = <A, B>(_same: Same<A, B>): void => undefined;
/** The type that an expression evaluates to. */
type Of<E> = E extends Expr<infer T> ? T : never;

const notes = q.Collection<Note>('notes');
const note = q.Ref(notes, '101');
const all = q.Documents(notes);
const byStars = q.Match<[stars: number, title: string, ref: DocumentRef<Note>]>(
  q.Index('by_stars'),
);

export function documents(): void {
  check<Of<typeof notes>, CollectionRef<Note>>(true);
  check<Of<typeof note>, DocumentRef<Note>>(true);
  check<Of<typeof all>, SetRef<DocumentRef<Note>>>(true);
  const got = q.Get(note);
  check<Of<typeof got>, StoredDocument<Note>>(true);
  const first = q.Get(all);
  check<Of<typeof first>, StoredDocument<Note>>(true);
  const said = q.Get<Author>(q.Var('ref'));
  check<Of<typeof said>, StoredDocument<Author>>(true);
  const untyped = q.Get(q.Ref(q.Collection('notes'), '1'));
  check<Of<typeof untyped>, StoredDocument>(true);
  const gone = q.Delete(note);
  check<Of<typeof gone>, StoredDocument<Note>>(true);
}

export async function results(ref: Ref, known: DocumentRef<Note>): Promise<void> {
  const created = await client.query(
    q.Create(notes, { data: { title: 'Heron', tags: [], stars: 5, author: known_author } }),
  );
  check<typeof created, StoredDocument<Note>>(true);
  const read = await client.query(q.Get(created.ref));
  check<typeof read, StoredDocument<Note>>(true);
  const direct = await client.Get(known);
  check<typeof direct, StoredDocument<Note>>(true);
  const plain = await client.Get(ref);
  check<typeof plain, StoredDocument>(true);
  const changed = await client.Update(known, { data: { stars: q.Add(1, 2), place: null } });
  check<typeof changed, StoredDocument<Note>>(true);
  for await (const refs of client.paginate(all)) check<typeof refs, DocumentRef<Note>[]>(true);
  const titles = client
    .paginate(all)
    .filter((each) => q.Exists(each))
    .map((each) => q.Select(['data', 'title'], q.Get(each)));
  for await (const each of titles) check<typeof each, string[]>(true);
}

export function select(): void {
  const title = q.Select(['data', 'title'], q.Get(note));
  check<Of<typeof title>, string>(true);
  const tag = q.Select(['data', 'tags', 0], q.Get(note));
  check<Of<typeof tag>, string>(true);
  // Select fails where the value is absent, so the type of a found value does not include `undefined`.
  const lat = q.Select(['data', 'place', 'lat'], q.Get(note));
  check<Of<typeof lat>, number>(true);
  const place = q.Select(['data', 'place'], q.Get(note), null);
  check<Of<typeof place>, { lat: number; lon: number } | null>(true);
  const id = q.Select(['ref', 'id'], q.Get(note));
  check<Of<typeof id>, string>(true);
  // The author is a ref that knows the type of its document.
  const name = q.Select(['data', 'name'], q.Get(q.Select(['data', 'author'], q.Get(note))));
  check<Of<typeof name>, string>(true);
  const loose = q.Select(['data', 'anything'], q.Get(q.Ref(q.Collection('notes'), '1')));
  check<Of<typeof loose>, unknown>(true);
  const expires = q.Select('ttl', q.Get(note));
  check<Of<typeof expires>, FaunaTime>(true);
  const inUnion = q.Select(['data', 'title'], q.If(true, q.Get(note), null));
  void inUnion;
  const steps: string[] = ['data', 'nothing'];
  void q.Select(steps, q.Get(note));
  void q.Select('name', q.CreateKey({ role: 'server', name: 'k' }));
  void q.Select(0, q.Var('list'));
  // Notes of an earlier version may have had this field.
  void q.Select(['data', 'heading'], q.Get(note), null);
  // A plain ref may lead to a schema object.
  void q.Select('active', q.Get(q.Index('by_stars')));
  const dynamic = q.Select<number>(q.Var('path'), q.Get(note));
  check<Of<typeof dynamic>, number>(true);
  const said = q.Select<number>(['data', 'count'], q.Get(note), 0);
  check<Of<typeof said>, number>(true);
}

export function bindings(): void {
  const body = q.Let({ a: 1 }, q.Concat(['a', 'b']));
  check<Of<typeof body>, string>(true);
  const applied = q.Let([{ got: q.Get(note) }, { more: 2 }], (got, more) => {
    check<Of<typeof got>, StoredDocument<Note>>(true);
    check<Of<typeof more>, number>(true);
    return { title: q.Select(['data', 'title'], got), more };
  });
  check<Of<typeof applied>, { title: string; more: number }>(true);
  const object = q.Let({ x: 1, y: 'a' }, (x, y) => q.Equals(x, y));
  check<Of<typeof object>, boolean>(true);
  // Of an object with one member, the variable has a type; with several, their order is not known.
  const single = q.Let({ got: q.Get(note) }, (got) => q.Select(['data', 'title'], got));
  check<Of<typeof single>, string>(true);
  const either = q.If(true, q.Get(note), null);
  check<Of<typeof either>, StoredDocument<Note> | null>(true);
  const last = q.Do(q.Delete(note), q.Count(all));
  check<Of<typeof last>, number>(true);
}

export function pages(): void {
  const page = q.Paginate(all, { size: 10 });
  check<Of<typeof page>, Page<DocumentRef<Note>>>(true);
  const tuples = q.Paginate(byStars);
  check<Of<typeof tuples>, Page<[stars: number, title: string, ref: DocumentRef<Note>]>>(true);
  const history = q.Paginate(all, { events: true });
  check<Of<typeof history>, Page<HistoryEvent>>(true);
  const sourced = q.Paginate(all, { sources: true });
  check<Of<typeof sourced>, Page<Sourced<DocumentRef<Note>>>>(true);
  const some = q.Take(2, page);
  check<Of<typeof some>, Page<DocumentRef<Note>>>(true);
}

export function elements(): void {
  const read = q.Map(q.Paginate(all), (ref) => q.Get(ref));
  check<Of<typeof read>, Page<StoredDocument<Note>>>(true);
  // In results, the first of several parameters is the first member of the tuple, and a single parameter is the tuple.
  const first = q.Map(q.Paginate(byStars), (stars, _title, _ref) => stars);
  check<Of<typeof first>, Page<number>>(true);
  const inParts = q.Map(q.Paginate(byStars), (stars, title) => ({ stars, title, low: 1 }));
  check<Of<typeof inParts>, Page<{ stars: number; title: string; low: number }>>(true);
  const perhaps = q.Map(q.Paginate(byStars), (stars, title) => q.If(q.Exists(all), stars, title));
  check<Of<typeof perhaps>, Page<number | string>>(true);
  const same = q.Map(q.Paginate(byStars), (tuple) => tuple);
  check<Of<typeof same>, Page<[stars: number, title: string, ref: DocumentRef<Note>]>>(true);
  const wrapped = q.Map(q.Select('data', q.Paginate(byStars)), (tuple) => ({ tuple }));
  check<Of<typeof wrapped>, { tuple: [stars: number, title: string, ref: DocumentRef<Note>] }[]>(
    true,
  );
  const whole = q.Map(q.Paginate(byStars), (tuple) => q.Select(1, tuple));
  check<Of<typeof whole>, Page<string>>(true);
  const apart = q.Map(q.Paginate(byStars), (stars, title, ref) => ({
    stars,
    title: q.UpperCase(title),
    note: q.Get(ref),
  }));
  const asRows: Expr<Page<{ stars: number; title: string; note: StoredDocument<Note> }>> = apart;
  void asRows;
  const literal = q.Map([1, 2, 3], (x) => q.ToString(x));
  check<Of<typeof literal>, string[]>(true);
  const array = q.Map(q.Select(['data', 'tags'], q.Get(note)), (tag) => q.Length(tag));
  check<Of<typeof array>, number[]>(true);
  const kept = q.Filter(all, (ref) => q.GT(q.Select(['data', 'stars'], q.Get(ref)), 3));
  check<Of<typeof kept>, SetRef<DocumentRef<Note>>>(true);
  const high = q.Filter(q.Paginate(byStars), (stars, _title, _ref) => q.GT(stars, 3));
  check<Of<typeof high>, Page<[stars: number, title: string, ref: DocumentRef<Note>]>>(true);
  const total = q.Reduce(
    (sum, stars) => q.Add(sum, stars),
    0,
    q.Map([1, 2], (x) => x),
  );
  check<Of<typeof total>, number>(true);
  const counted = q.Count(q.Paginate(all));
  check<Of<typeof counted>, Page<number>>(true);
  const named = q.Map(q.Paginate(all), q.Lambda('ref', q.Get(q.Var('ref'))));
  check<Of<typeof named>, Page>(true);
}

export function sets(): void {
  const both = q.Union(
    all,
    q.Filter(all, (ref) => q.Exists(ref)),
  );
  check<Of<typeof both>, SetRef<DocumentRef<Note>>>(true);
  const joined = q.Join(all, (ref) => q.Match<DocumentRef<Author>>(q.Index('authors'), ref));
  check<Of<typeof joined>, SetRef<DocumentRef<Author>>>(true);
  const arrays = q.Difference([1, 2], [2]);
  check<Of<typeof arrays>, number[]>(true);
  const back = q.Reverse(all);
  check<Of<typeof back>, SetRef<DocumentRef<Note>>>(true);
  const names = q.Match<string>(q.Index('names'));
  const mixed = q.Union(all, names);
  check<Of<typeof mixed>, SetRef<DocumentRef<Note> | string>>(true);
  const common = q.Intersection(
    [1, 'a'],
    q.Map([1], (n) => n),
  );
  check<Of<typeof common>, (string | number)[]>(true);
  const first = q.Difference(all, names);
  check<Of<typeof first>, SetRef<DocumentRef<Note>>>(true);
  const one = q.Singleton(note);
  check<Of<typeof one>, SetRef<DocumentRef<Note>>>(true);
  const history = q.Events(note);
  check<Of<typeof history>, SetRef<HistoryEvent>>(true);
}

/** Operands can be a list whose length is not known before. Without operands, the builder throws. */
export function spread(
  tags: readonly string[],
  numbers: Expr<number>[],
  unsure: (number | undefined)[],
): void {
  const tagged = tags.map((tag) => q.Match<string>(q.Index('by_tag'), tag));
  const any = q.Union(...tagged);
  check<Of<typeof any>, SetRef<string>>(true);
  const every = q.Intersection(...tagged);
  check<Of<typeof every>, SetRef<string>>(true);
  const others = q.Difference(all, ...tagged);
  check<Of<typeof others>, SetRef<DocumentRef<Note>>>(true);
  const listed = q.Union(tagged);
  check<Of<typeof listed>, SetRef<string>>(true);
  const direct: Promise<SetRef<string>> = client.Union(...tagged);
  void direct;
  const sum = q.Add(...numbers);
  check<Of<typeof sum>, number>(true);
  q.Add(1, ...numbers);
  q.And(...tags.map((tag) => q.Exists(q.Ref(notes, tag))));
  q.Equals(...numbers);
  const greatest = q.Max(...numbers);
  check<Of<typeof greatest>, number>(true);
  q.Format('%s %s', ...tags);
  q.Format('no values');
  const last = q.Do(...tags.map((tag) => q.Delete(q.Ref(notes, tag))));
  check<Of<typeof last>, StoredDocument<Note>>(true);
  // @ts-expect-error No operand at all.
  q.Add();
  // @ts-expect-error Some operands may be undefined.
  q.Add(...unsure);
  // @ts-expect-error A list of what may be undefined.
  q.Union(...tags.map((tag) => (tag ? q.Documents(notes) : undefined)));
}

/** What is at hand has a type, too. */
export function literals(
  document: StoredDocument<Note>,
  task: StoredDocument<{ level: 'high' | 'low' }>,
): void {
  const title = q.Select(['data', 'title'], document);
  check<Of<typeof title>, string>(true);
  const otherwise = q.Select(['data', 'place', 'lat'], document, null);
  check<Of<typeof otherwise>, number | null>(true);
  // Words keep their types inside of values.
  const level = q.Select(['data', 'level'], task);
  check<Of<typeof level>, 'high' | 'low'>(true);
  const urgent = q.Merge(task.data, { tags: ['now'] });
  check<Of<typeof urgent>, { level: 'high' | 'low'; tags: string[] }>(true);
  const joined = q.Append([q.Add(1, 2)], ['a']);
  check<Of<typeof joined>, (string | number)[]>(true);
  const grown = q.Prepend(['x'], q.Select(['data', 'tags'], q.Get(note)));
  check<Of<typeof grown>, string[]>(true);
  const collected = q.Reduce((tags, n) => q.Append([n], tags), [0], [1, 2]);
  check<Of<typeof collected>, number[]>(true);
  const merged = q.Merge(q.Select('data', q.Get(note)), { stars: 'many', place: null });
  check<
    Of<typeof merged>,
    { title: string; tags: string[]; author: DocumentRef<Author>; stars: string }
  >(true);
  const several = q.Merge({ a: 1 }, [{ b: true }, { c: 'x' }]);
  check<Of<typeof several>, Data>(true);
  const pairs = q.ToArray(q.Select('data', q.Get(note)));
  type Member = 'title' | 'tags' | 'stars' | 'place' | 'author';
  check<Of<typeof pairs>[number][0], Member>(true);
  const object = q.ToObject(q.Map(['a'], (name) => [name, 1] as const));
  check<Of<typeof object>, Record<string, number>>(true);
  const greatest = q.Max(q.Select(['data', 'tags'], q.Get(note)));
  check<Of<typeof greatest>, string>(true);
  const least = q.Min(1, 2, q.Add(1, 2));
  check<Of<typeof least>, number>(true);
  const said = q.Max<string>(q.Var('words'));
  check<Of<typeof said>, string>(true);
}

export async function directCalls(): Promise<void> {
  // The result of an expression without a type is unknown, although the expression fits everywhere.
  const unsaid = await client.query(q.Select(['data', 'x'], q.Var('document')));
  check<typeof unsaid, unknown>(true);
  // A call that runs at once has the result type of its builder.
  const some = await client.Take(1, [2]);
  check<typeof some, number[]>(true);
  const rest = await client.Drop(1, q.Paginate(all));
  check<typeof rest, Page<DocumentRef<Note>>>(true);
  const longer = await client.Append(['b'], ['a']);
  check<typeof longer, string[]>(true);
  const kept = await client.Filter([1, 2], (n) => q.GT(n, 1));
  check<typeof kept, number[]>(true);
  const back = await client.Reverse(all);
  check<typeof back, SetRef<DocumentRef<Note>>>(true);
  const once = await client.Distinct(['a', 'a']);
  check<typeof once, string[]>(true);
  const total = await client.Reduce((sum, n) => q.Add(sum, n), 0, [1, 2]);
  check<typeof total, number>(true);
  const visited = await client.Foreach(q.Paginate(all), (ref) => q.Delete(ref));
  check<typeof visited, Page<DocumentRef<Note>>>(true);
  const tens = await client.Map([1, 2], (n) => q.Multiply(n, 10));
  check<typeof tens, number[]>(true);
  const merged = await client.Merge({ a: 1 }, { b: 'x' });
  check<typeof merged, { a: number; b: string }>(true);
  const pairs = await client.ToArray({ a: 1 });
  check<typeof pairs, ['a', number][]>(true);
  const documents = await client.Documents(notes);
  check<typeof documents, SetRef<DocumentRef<Note>>>(true);
  const range = await client.Range(all, 1, 2);
  check<typeof range, SetRef<DocumentRef<Note>>>(true);
  const both = await client.Union(all, all);
  check<typeof both, SetRef<DocumentRef<Note>>>(true);
  const joined = await client.Join(all, (ref) => q.Match<string>(q.Index('names'), ref));
  check<typeof joined, SetRef<string>>(true);
  const matched = await client.Match<string>(q.Index('names'));
  check<typeof matched, SetRef<string>>(true);
  const inserted = await client.Insert<HistoryEvent>(note, 1, 'create', {});
  check<typeof inserted, HistoryEvent>(true);
  const then = await client.At(1, q.Get(note));
  check<typeof then, StoredDocument<Note>>(true);
  const members = await client.Object({ a: q.Add(1, 2) });
  check<typeof members, { a: number }>(true);
  const greatest = await client.Max('a', 'b');
  check<typeof greatest, string>(true);
  const collection = await client.Collection<Note>('notes');
  check<typeof collection, CollectionRef<Note>>(true);
}

declare const known_author: DocumentRef<Author>;
const whole = { title: 'Heron', tags: ['bird'], stars: 5, author: known_author };

export function refused(): void {
  // @ts-expect-error The title of a note is a text.
  q.Create(notes, { data: { ...whole, title: 1 } });
  // @ts-expect-error So is each tag.
  q.Create(notes, { data: { ...whole, tags: ['bird', 7] } });
  // @ts-expect-error An expression of a number is no text either.
  q.Create(notes, { data: { ...whole, title: q.Add(1, 2) } });
  // @ts-expect-error A new note has all that notes have.
  q.Create(notes, { data: { title: 'Heron' } });
  // @ts-expect-error So has one that is replaced.
  q.Replace(note, { data: { title: 'Heron' } });
  // @ts-expect-error A change has the right type, too.
  q.Update(note, { data: { stars: 'five' } });
  // @ts-expect-error There is no such member to change.
  q.Update(note, { data: { starz: 5 } });
  // @ts-expect-error What Select finds is a text, and no number.
  const stars: Expr<number> = q.Select(['data', 'title'], q.Get(note));
  // @ts-expect-error A note has no such member.
  q.Select(['data', 'titel'], q.Get(note));
  // @ts-expect-error Members of the data are not members of the document.
  q.Select('title', q.Get(note));
  // @ts-expect-error Nor is there one in a member.
  q.Select(['data', 'place', 'lng'], q.Get(note));
  // @ts-expect-error An array has elements, and no members.
  q.Select(['data', 'tags', 'first'], q.Get(note));
  // @ts-expect-error What is at hand has a shape, too.
  q.Select('b', { a: 1 });
  // @ts-expect-error A call that runs at once is checked alike.
  void client.Select(['data', 'titel'], q.Get(note));
  // @ts-expect-error Variables know what they are bound to.
  q.Let([{ got: q.Get(note) }], (got) => check<Of<typeof got>, StoredDocument<Author>>(true));
  // @ts-expect-error A page of notes is no page of authors.
  const page: Expr<Page<DocumentRef<Author>>> = q.Paginate(q.Match<string>(q.Index('names')));
  // @ts-expect-error A set of names and a set of refs have no union.
  const union: Expr<SetRef<string>> = q.Union(all, q.Match<string>(q.Index('names')));
  // @ts-expect-error A lambda for a join gives a set.
  const joined: Expr<SetRef<number>> = q.Join(all, (ref) => q.Count(ref));
  // @ts-expect-error Parts of a tuple have their types.
  const rows: Expr<Page<{ stars: string }>> = q.Map(q.Paginate(byStars), (stars, _title) => ({
    stars,
  }));
  // @ts-expect-error Pages of a helper know what their elements became.
  const helper: PageHelper<number> = client.paginate(all).map((ref) => q.Get(ref));
  void [stars, page, union, joined, rows, helper];
}

export async function times(): Promise<void> {
  check<Of<ReturnType<typeof moved.time>>, FaunaTime>(true);
  check<Of<ReturnType<typeof moved.date>>, FaunaDate>(true);
  const date = await client.TimeSubtract(new FaunaDate('2026-01-31'), 1, 'day');
  check<typeof date, FaunaDate>(true);
}
const moved = {
  time: () => q.TimeAdd(q.Now(), 1, 'hour'),
  date: () => q.TimeAdd(q.Date('2026-01-31'), 1, 'day'),
};
