/** What the types allow and what they refuse, with the reason of each refusal. Checked by `npm run types`, never run. */
import {
  openDatabase,
  q,
  type Arg,
  type Bytes,
  type Client,
  type CollectionRef,
  type DocumentRef,
  type Expr,
  type StoredDocument,
  type Page,
  type Progress,
  type Ref,
  type Token,
} from '../../../index.ts';

interface Note {
  title: string;
  tags: string[];
}

interface Task {
  level: 'high' | 'low';
}

declare const client: Client;
declare const note: Note;
declare const date: Date;

type Same<A, B> = [A, B] extends [B, A] ? true : false;
const check = <A, B>(_same: Same<A, B>): void => undefined;

const notes = q.Documents(q.Collection('notes'));
const tagged = (tag: string) => q.Match<string>(q.Index('notes_by_tag'), tag);

export async function given(): Promise<void> {
  const created = await client.query(q.Create<Note>(q.Collection('notes'), { data: note }));
  check<typeof created, StoredDocument<Note>>(true);
  const page = await client.query(q.Paginate(notes, { size: q.Var('n'), after: [1, q.Now()] }));
  check<typeof page, Page<Ref>>(true);
  const documents = await client.query(q.Map(q.Paginate(notes), (ref) => q.Get<Note>(ref)));
  check<typeof documents, Page<StoredDocument<Note>>>(true);
  const titles = await client.query(
    q.Map(q.Paginate(notes), (ref) => q.Select(['data', 'title'], q.Get<Note>(ref))),
  );
  check<typeof titles, Page<string>>(true);
  // A lambda with names does not tell what it makes, but a page stays a page, and an array an array.
  const byName = q.Lambda('ref', q.Get(q.Var('ref')));
  const named = await client.query(q.Map(q.Paginate(notes), byName));
  check<typeof named, Page>(true);
  const counted = await client.query(q.Map(q.Select('data', q.Paginate(notes)), byName));
  check<typeof counted, unknown[]>(true);
  const squares = await client.query(q.Map([1, 2], q.Lambda('n', q.Multiply(q.Var('n'), 2))));
  check<typeof squares, unknown[]>(true);
  const direct = await client.Map(q.Paginate(notes), byName);
  check<typeof direct, Page>(true);
  const claimed = await client.query(q.Map<Page<Note>>(q.Paginate(notes), byName));
  check<typeof claimed, Page<Note>>(true);
  const told = await client.query<Page<StoredDocument<Note>>>(q.Map(q.Paginate(notes), byName));
  check<typeof told, Page<StoredDocument<Note>>>(true);
  // Where a page is expected at a number, it is an element of its data.
  const firstOf = await client.query(q.Select(0, q.Paginate(notes)));
  check<typeof firstOf, Ref>(true);
  // A member that may be null is there where a path goes on through it: elsewhere Select fails, or takes the default.
  const rated = q.Collection<{ rating?: { stars: number } | null }>('rated');
  const stars = await client.query(
    q.Select(['data', 'rating', 'stars'], q.Get(q.Ref(rated, '1')), 0),
  );
  check<typeof stars, number>(true);
  const chosen = await client.query(q.If(q.Exists(q.Var('x')), 1, 'none'));
  check<typeof chosen, number | 'none'>(true);
  const bound = await client.query(q.Let({ a: 1 }, q.Do(q.Now(), { sum: q.Add(q.Var('a'), 1) })));
  check<typeof bound, { sum: number }>(true);
  const asked = await client.query<number>(q.Var<unknown>('x'));
  check<typeof asked, number>(true);
  const token = await client.Login(q.Match(q.Index('users_by_email'), 'a@b'), { password: 'x' });
  check<typeof token, Token>(true);
  const found = await client.Get<Note>(q.Ref(q.Collection('notes'), '1'));
  check<typeof found, StoredDocument<Note>>(true);
  for await (const each of client.paginate(notes)) check<typeof each, Ref[]>(true);
  // Refs from an earlier answer, as a component has them.
  const refs = (await client.query(q.Paginate(q.Documents(q.Collection<Note>('notes'))))).data;
  const again = await client.query(q.Map(refs, (ref) => q.Get(ref)));
  check<typeof again, StoredDocument<Note>[]>(true);
  // A field of a few words takes a choice between them, and a default that is one of them.
  const tasks = q.Collection<Task>('tasks');
  const urgent = q.If(q.Exists(q.Var('x')), 'high', 'low');
  q.Create(tasks, { data: { level: urgent } });
  const level = await client.query(q.Select(['data', 'level'], q.Get(q.Ref(tasks, '1')), 'low'));
  check<typeof level, 'high' | 'low'>(true);
  const several = await client.query(q.Paginate(q.Union(['a', 'b'].map((tag) => tagged(tag)))));
  check<typeof several, Page<string>>(true);
  client.subscribe(q.Count(notes), {
    next: (count) => check<typeof count, number>(true),
    error: (error) => error.message,
  });
  const db = await openDatabase('notes', { durability: 'relaxed' });
  db.addEventListener('progress', ({ detail }) => check<typeof detail.done, number>(true));
  // `db.fetch` can be used wherever a `fetch` is accepted.
  const asFetch: typeof globalThis.fetch = db.fetch;
  await asFetch('http://burrow/ping');
  // The client of the original driver is written against this function.
  await db.fetch('http://burrow', {
    headers: { 'X-Last-Seen-Txn': 1 },
    signal: new AbortController().signal,
  });
}

export function refused(): void {
  // @ts-expect-error The options of Paginate are part of its form; an expression cannot stand for them.
  q.Paginate(notes, q.Var('options'));
  // @ts-expect-error A misspelt option would be sent, and refused there.
  q.Paginate(notes, { sice: 1 });
  // @ts-expect-error A Date has no wire form: q.Time or q.Date makes one.
  q.ToString(date);
  // @ts-expect-error Not inside an object either, at its first level.
  q.Create(q.Collection('notes'), date);
  // @ts-expect-error `undefined` is no value of FQL.
  q.IsNull(undefined);
  // @ts-expect-error One argument is missing.
  q.Update(q.Var('ref'));
  // @ts-expect-error There is no such function.
  q.Upsert(q.Var('ref'), {});
  const typed = q.Collection<Note>('notes');
  q.Create(typed, { data: note, ttl: q.Now(), credentials: { password: 'x' } });
  // @ts-expect-error What a document holds is in `data`: it would be dropped here.
  q.Create(typed, note);
  // @ts-expect-error And under a misspelt name.
  q.Create(typed, { dat: note });
  // @ts-expect-error Nor would an update change anything.
  q.Update(q.Ref(typed, '1'), { title: 'x' });
  // @ts-expect-error Or it would be empty afterwards.
  void client.Replace(q.Ref(typed, '1'), { title: 'x' });
  // @ts-expect-error A user without a password.
  q.Create(typed, { data: note, credentials: { pasword: 'x' } });
  // @ts-expect-error It would be told as a wrong password.
  q.Login(q.Ref(typed, '1'), { pasword: 'x' });
  for (const unit of ['half days', 'day', q.Var('unit')] as const) q.TimeAdd(q.Now(), 1, unit);
  // @ts-expect-error There is no such unit: it is seven days.
  q.TimeAdd(q.Now(), 1, 'week');
  // @ts-expect-error Nor here.
  q.TimeDiff(q.Now(), q.Now(), 'years');
  // @ts-expect-error A set, not the name of a collection.
  void openDatabase('notes').then((db) => db.sync({ url: 'https://hub.example', sets: ['notes'] }));
  // @ts-expect-error An index, not its name.
  void client.whenActive('by_tag');
  // @ts-expect-error A union has at least one member.
  q.Union();
  // @ts-expect-error The observer needs somewhere to tell values.
  client.subscribe(q.Now(), {});
  // @ts-expect-error Only these two durabilities exist.
  void openDatabase('notes', { durability: 'none' });
  // @ts-expect-error Results are typed: a count is no text.
  const text: Promise<string> = client.query(q.Count(notes));
  void text;
}

export async function cursors(): Promise<void> {
  const page = await client.query(q.Paginate(notes));
  await client.query(q.Paginate(notes, { size: 10, after: page.after }));
  await client.query(q.Paginate(notes, { before: page.before }));
}

export async function listeners(): Promise<void> {
  const db = await openDatabase('notes');
  const listen = ({ detail }: CustomEvent<Progress>): void => void detail.done;
  db.addEventListener('progress', listen);
  db.removeEventListener('progress', listen);
  // @ts-expect-error Whoever listens to progress cannot listen to the lock.
  db.removeEventListener('locked', listen);
  db.addEventListener('progress', { handleEvent: listen });
  for (const type of ['closed', 'locked'] as const) db.addEventListener(type, () => undefined);
  const end = (): void => undefined;
  // @ts-expect-error It is `closed`: nothing would ever be heard.
  db.addEventListener('close', end);
  // @ts-expect-error Nor can anybody stop listening to it.
  db.removeEventListener('close', end);
  // @ts-expect-error The object's listener knows what comes, as a function does.
  db.addEventListener('locked', { handleEvent: listen });
  // @ts-expect-error Files tell `progress` only.
  db.files.addEventListener('done', () => undefined);
  const sync = await db.sync({ url: 'https://hub.example', sets: [] });
  // @ts-expect-error The database tells that it is closed, not its sync.
  sync.addEventListener('closed', end);
  // @ts-expect-error And its sync in which state it is.
  db.addEventListener('state', end);
  const target: EventTarget = db;
  void target;
}

export function schema(name: string, ref: Ref): void {
  q.CreateCollection({ name: 'notes', history_days: 0, permissions: { read: 'public' } });
  q.CreateIndex({
    name: 'by_year',
    source: {
      collection: q.Collection('notes'),
      fields: { year: q.Query((doc) => q.Year(q.Select(['data', 'at'], doc))) },
    },
    terms: [{ binding: 'year' }, { field: ['data', 'tags'] }],
    values: [{ field: 'ts', reverse: true }],
  });
  q.CreateRole({
    name: 'writer',
    privileges: [
      { resource: q.Collection('notes'), actions: { read: true, write: q.Query(() => true) } },
    ],
    membership: { resource: q.Collection('users') },
  });
  q.CreateFunction({ name: 'square', body: q.Query((x) => q.Multiply(x, x)), role: 'server' });
  q.CreateKey({ role: [q.Role('writer')], ttl: q.Now() });
  q.CreateKey({ role: ['writer', q.Role('reader')] });
  for (const role of [name, ref, [name], [ref], [name, ref] as const]) q.CreateKey({ role });
  q.Map([name], (role) => q.CreateKey({ role: [role] }));
  q.Query((role) => q.CreateKey({ role }));
  for (const role of [name, ref, null, q.If(true, 'server', ref)])
    q.CreateFunction({ name: 'f', body: q.Var('body'), role });
  // @ts-expect-error A function has one role.
  q.CreateFunction({ name: 'f', body: q.Var('body'), role: ['writer'] });
  // @ts-expect-error No role.
  q.CreateKey({ role: 7 });
  q.CreateKey(q.Var('params'));
  // @ts-expect-error It is `terms`.
  q.CreateIndex({ name: 'i', source: q.Collection('notes'), term: [{ field: 'ts' }] });
  // @ts-expect-error It is `fields` of the source, and `field` of a term.
  q.CreateIndex({ name: 'i', source: q.Collection('notes'), terms: [{ fields: ['ts'] }] });
  q.CreateIndex({ name: 'i', source: q.Collection('c'), values: [{ field: ['ref', 'id'] }] });
  q.CreateIndex({ name: 'i', source: q.Collection('c'), terms: { field: q.Var('path') } });
  // @ts-expect-error A path is an array: this is a member with a dot in its name.
  q.CreateIndex({ name: 'i', source: q.Collection('c'), terms: [{ field: 'data.at' }] });
  // @ts-expect-error What is in `data` has a path.
  q.CreateIndex({ name: 'i', source: q.Collection('c'), values: [{ field: 'at' }] });
  // @ts-expect-error It is `field` of a value, too.
  q.CreateIndex({ name: 'i', source: q.Collection('c'), values: [{ fields: ['ts'] }] });
  // @ts-expect-error An index has a source.
  q.CreateIndex({ name: 'i' });
  // @ts-expect-error The action is `write`.
  q.CreateRole({ name: 'r', privileges: [{ resource: q.Var('c'), actions: { update: true } }] });
  // @ts-expect-error A function has a body.
  q.CreateFunction({ name: 'f' });
  // @ts-expect-error A key has a role.
  void client.CreateKey({ name: 'k' });
  // @ts-expect-error Only roles say who may write through an index.
  q.CreateIndex({ name: 'i', source: q.Collection('c'), permissions: { write: 'public' } });
}

/** Bytes may be given as JavaScript has them; in a result they are `Bytes`. */
export async function bytes(image: Uint8Array): Promise<void> {
  const scans = q.Collection<{ image: Bytes; parts?: Bytes[] }>('scans');
  const scan = await client.Create(scans, { data: { image, parts: [new ArrayBuffer(8), image] } });
  check<typeof scan.data.image, Bytes>(true);
  await client.Update(scan.ref, { data: { image } });
  // @ts-expect-error Text is not bytes: `q.Bytes()` reads base64.
  q.Create(scans, { data: { image: 'aGk=' } });
}

/** Values of the wrong kind, which the database refuses whatever they contain. */
export function misplaced(document: StoredDocument<Note>, page: Page<Ref>): void {
  const typed = q.Collection<Note>('notes');
  const ref = q.Ref(typed, '1');
  const set = q.Documents(typed);
  // @ts-expect-error A document, not its ref.
  q.Update(document, { data: { title: 'x' } });
  // @ts-expect-error Also as an expression.
  q.Delete(q.Get(ref));
  // @ts-expect-error And on a client.
  void client.Replace(document, { data: note });
  // @ts-expect-error Nor can it be read.
  q.Get(document);
  // @ts-expect-error Or tested.
  q.Exists(document);
  // @ts-expect-error The document of a schema object is no ref either.
  q.Delete(q.Get(q.Index('i')));
  // @ts-expect-error A page, not one of its refs.
  q.Get(page);
  // @ts-expect-error It is a page already.
  q.Paginate(q.Paginate(set));
  // @ts-expect-error An id, not a ref.
  q.Get('1');
  // @ts-expect-error A name, not a ref.
  q.Login('ada@example.org', { password: 'x' });
  // @ts-expect-error A name, not the collection.
  q.Documents('notes');
  // @ts-expect-error Get reads the first document of a set, but a set cannot be changed.
  q.Update(set, { data: { title: 'x' } });
  // @ts-expect-error Nor be deleted.
  q.Delete(q.Match(q.Index('i'), 'x'));
  // @ts-expect-error A set, of which no page was read.
  q.Map(set, (each) => q.Get(each));
  // @ts-expect-error Nor here.
  q.Foreach(q.Match(q.Index('i'), 'x'), (each) => q.Delete(each));
  // @ts-expect-error Nor here.
  q.Take(1, set);
  // What is known too little, or may be a ref, is accepted.
  q.Get(q.Var('x'));
  q.Query((x) =>
    q.Do(
      q.Delete(x),
      q.Map(x, (each) => q.Get(each)),
      q.Documents(x),
    ),
  );
  q.Get(q.If(true, ref, document));
  q.Update(q.Select(['data', 0], q.Paginate(set)), { data: { title: 'x' } });
  q.Get(q.Singleton(ref));
  q.Exists(set);
  q.Paginate(ref);
  q.Update(q.Role('r'), { name: 's' });
  q.Documents(q.Select('collection', ref));
  q.Delete(q.Select<Ref>('owner', q.Var('x')));
  q.Delete(q.Call('find'));
}

/** Functions of an app may pass on what they do not know. */
export const general = [
  <T>(ref: DocumentRef<T>) => client.query(q.Delete(ref)),
  <T>(ref: Expr<DocumentRef<T>>) => q.Get(ref),
  <T extends Ref>(ref: T) => q.Update(ref, {}),
  <T>(ref: Expr<T>) => q.Exists(ref),
  <A extends Arg>(set: A) => ({ set, page: q.Paginate(set) }),
  <A extends Arg>(page: A) => q.Take(1, page),
  <T>(collection: Expr<CollectionRef<T>>) =>
    q.Map(q.Paginate(q.Documents(collection)), (ref) => q.Get(ref)),
  <T>(ref: DocumentRef<T>) => q.Select('data', q.Get(ref)),
  <T extends Note>(ref: DocumentRef<T>) => q.Select(['data', 'title'], q.Get(ref)),
  <T, K extends keyof T & string>(ref: DocumentRef<T>, field: K) =>
    q.Select(['data', field], q.Get(ref)),
  <T, K extends keyof T & string>(object: Expr<T>, field: K) => q.Select(field, object),
];
