import * as fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../in-process/testing.ts';
import { Bytes, FaunaDate, FaunaTime, q, type Database } from '../index.ts';
import { csvRows } from './csv.ts';
import type { DataError } from './data-error.ts';
import { importDatabase } from './import.ts';
import { blobOf, linesOfExport, packed } from './testing/kit.ts';
import { documentRefText } from './wire.ts';

async function rowsOf(pieces: readonly string[], delimiter = ',') {
  const rows: (readonly string[])[] = [];
  const source = (async function* () {
    yield* pieces;
  })();
  for await (const { cells } of csvRows(source, delimiter))
    rows.push(cells.map(({ text }) => text));
  return rows;
}

test('csvRows() reads cells quoted by RFC 4180, however the text is split into pieces', async () => {
  const cell = fc.oneof(
    fc.array(fc.constantFrom('"', ',', '\r', '\n', '\r\n', 'a', 'é', ' '), { maxLength: 6 }),
    fc.array(fc.string(), { maxLength: 2 }),
  );
  const table = fc.integer({ min: 1, max: 4 }).chain((width) =>
    fc.array(
      fc.array(
        cell.map((parts) => parts.join('')),
        { minLength: width, maxLength: width },
      ),
      { maxLength: 5 },
    ),
  );
  await fc.assert(
    fc.asyncProperty(
      table,
      fc.constantFrom('\n', '\r\n'),
      fc.integer({ min: 1, max: 7 }),
      async (rows, end, size) => {
        const text = rows
          .map((row) => row.map((each) => `"${each.replaceAll('"', '""')}"`).join(',') + end)
          .join('');
        const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
          text.slice(at * size, (at + 1) * size),
        );
        expect(await rowsOf(pieces)).toEqual(rows);
      },
    ),
  );
});

test('csvRows() reads plain and empty cells, and a last line without a line end', async () => {
  expect(await rowsOf(['a,b\r\n1,\n\n,"2"\n"x\r\ny",z'])).toEqual([
    ['a', 'b'],
    ['1', ''],
    ['', '2'],
    ['x\r\ny', 'z'],
  ]);
  expect(await rowsOf(['a;b'], ';')).toEqual([['a', 'b']]);
});

test.each([
  ['a\n"b', 2, 1, /no closing quote/],
  ['a,b\nc,d"e', 2, 2, /must be quoted/],
  ['a,b\n"c"d,e', 2, 1, /Text follows the closing quote/],
])('csvRows() names line and column of the error in %j', async (text, line, column, why) => {
  await expect(rowsOf([text])).rejects.toMatchObject({
    code: 'invalid_line',
    line,
    column,
    message: expect.stringMatching(why) as unknown,
  });
});

async function openPeople(): Promise<Database> {
  const database = await openDatabase();
  onTestFinished(() => database.close());
  await database.client().query(q.CreateCollection({ name: 'people' }));
  return database;
}

const CSV = { format: 'csv', collection: 'people' } as const;
const JSONL = { format: 'jsonl', collection: 'people' } as const;

/** A document in the form in which `Get` returns it. */
const personText = (id: string, fields = '"data":{"a":1}'): string =>
  `{"ref":${documentRefText('people', id)},${fields}}`;

const dataOf = (id: string) => q.Select('data', q.Get(q.Ref(q.Collection('people'), id)));

test('importDatabase() converts the cells of a table by the types of its columns', async () => {
  const database = await openPeople();
  const table = blobOf(
    'no:int,name,born:date,seen:time,size:double,works:boolean,tags:json,boss:ref(people),raw:bytes',
    '7,"Eve ""E"", of the hill",1815-12-10,2026-01-02T03:04:05.5Z,2,true,"[1,""x""]",8,AP8=',
    '8,"",,,,,,,',
  );
  const options = { format: 'csv', collection: 'people', id: 'no' } as const;
  expect(await importDatabase(database, table, options)).toMatchObject({ imported: 2 });
  expect(await database.client().query(dataOf('7'))).toEqual({
    name: 'Eve "E", of the hill',
    born: new FaunaDate('1815-12-10'),
    seen: new FaunaTime('2026-01-02T03:04:05.500Z'),
    size: 2,
    works: true,
    tags: [1, 'x'],
    boss: expect.objectContaining({ id: '8' }) as unknown,
    raw: new Bytes('AP8='),
  });
  expect(await database.client().query(dataOf('8'))).toEqual({ name: '' });
  expect(await importDatabase(database, table, options)).toMatchObject({ same: 2, imported: 0 });
});

test('types of columns in the options are used', async () => {
  const database = await openPeople();
  const table = blobOf('id;n;at:noon', '1;5;x');
  const options = {
    format: 'csv',
    collection: 'people',
    id: 'id',
    delimiter: ';',
    columns: { n: 'int', 'at:noon': 'string' },
  } as const;
  await importDatabase(database, table, options);
  expect(await database.client().query(dataOf('1'))).toEqual({ n: 5, 'at:noon': 'x' });
});

test.each([
  ['a:int\n1\nx', { line: 3, column: 1 }, /"x" is not of the type int of 'a'/],
  ['a:int\n9223372036854775808', { line: 2, column: 1 }, /type int/],
  ['a,b:date\n1,2026-02-30', { line: 2, column: 2 }, /type date/],
  ['a,b\n1', { line: 2 }, /has 1 cells, the first line has 2/],
  ['a:what\n1', { line: 1, column: 1 }, /'what' of 'a' is unknown/],
  ['a,a\n1,2', { line: 1, column: 2 }, /there twice/],
  ['a,b\r1,2\r', { line: 1 }, /must end with LF or CRLF, not with CR/],
])(
  'a faulty table is refused with line and column before anything is written: %j',
  async (text, place, why) => {
    const database = await openPeople();
    await expect(importDatabase(database, new Blob([text]), CSV)).rejects.toMatchObject({
      code: 'invalid_line',
      ...place,
      message: expect.stringMatching(why) as unknown,
    });
    expect(await database.client().query(q.Count(q.Documents(q.Collection('people'))))).toBe(0);
  },
);

test('an export is refused as JSON lines of documents', async () => {
  const database = await openPeople();
  const source = await packed(database);
  await expect(importDatabase(database, source, JSONL)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('is an export of a database') as unknown,
  });
  expect(await database.client().query(q.Count(q.Documents(q.Collection('people'))))).toBe(0);
});

test('an imported document with null or empty values counts as the same when imported again', async () => {
  const database = await openPeople();
  const of = { collection: 'people' } as const;
  const ref = documentRefText('people', '7');
  const sources = [
    [
      blobOf('{"no":1,"name":null}', '{"no":2,"a":[],"b":{}}'),
      { ...of, format: 'jsonl', id: 'no' },
    ],
    [blobOf('id:int,name', '5,'), { ...of, format: 'csv', id: 'id' }],
    [blobOf(`{"ref":${ref},"ts":1,"data":{"name":null}}`), { ...of, format: 'jsonl' }],
  ] as const;
  for (const [source, options] of sources) {
    const { imported } = await importDatabase(database, source, options);
    expect(await importDatabase(database, source, options)).toMatchObject({ same: imported });
  }
});

test('importDatabase() reads JSON lines: data with computed ids, data with an id member, and documents', async () => {
  const database = await openPeople();
  const client = database.client();
  const plain = blobOf('{"name":"Ada","n":1.0,"none":null}', '', '{"name":"Ada","n":1.0}');
  expect(await importDatabase(database, plain, JSONL)).toMatchObject({ imported: 2 });
  expect(await importDatabase(database, plain, JSONL)).toMatchObject({ same: 2, imported: 0 });
  const page = await client.query(
    q.Map(q.Paginate(q.Documents(q.Collection('people'))), (ref) => q.Select('data', q.Get(ref))),
  );
  expect(page.data).toEqual([
    { name: 'Ada', n: 1 },
    { name: 'Ada', n: 1 },
  ]);
  expect((await linesOfExport(database)).at(-1)).toContain('"data":{"name":"Ada","n":1.0}');

  await client.query(
    q.Create(q.Ref(q.Collection('people'), '40'), {
      data: { name: 'Cy' },
      permissions: { read: 'public' },
    }),
  );
  const named = blobOf('{"no":"41","name":"Bo","at":{"@ts":"2026-01-01T00:00:00Z"}}');
  await importDatabase(database, named, { ...JSONL, id: 'no' });
  expect(await client.query(dataOf('41'))).toEqual({
    name: 'Bo',
    at: new FaunaTime('2026-01-01T00:00:00Z'),
  });
  await expect(
    importDatabase(database, blobOf('{"no":"x1"}'), { ...JSONL, id: 'no' }),
  ).rejects.toMatchObject({ code: 'invalid_line', line: 1 });
  await expect(importDatabase(database, blobOf('{"a":1}', '[1]'), JSONL)).rejects.toMatchObject({
    code: 'invalid_line',
    line: 2,
  });
  for (const [line, says] of [
    ['{"n":9223372036854775808}', 'It holds an integer that does not fit into 64 bits.'],
    ['{"n":-9223372036854775809}', 'It holds an integer that does not fit into 64 bits.'],
    ['{"n":123456789012345678901234567890}', 'It holds an integer that does not fit into 64 bits.'],
    ['{"n":', 'It is not JSON, or is nested too deeply.'],
  ] as const) {
    await expect(importDatabase(database, blobOf(line), JSONL)).rejects.toMatchObject({
      code: 'invalid_line',
      message: `Line 1: ${says}`,
    });
  }

  const documents = (await linesOfExport(database)).filter((line) => line.startsWith('{"ref"'));
  const to = await openDatabase();
  await expect(importDatabase(to, blobOf(...documents), JSONL)).rejects.toMatchObject({
    code: 'invalid_option',
    message: "There is no collection 'people': create it first.",
  });
  await to.client().query(q.CreateCollection({ name: 'people' }));
  await importDatabase(to, blobOf(...documents), JSONL);
  const written = (await linesOfExport(to)).filter((line) => line.startsWith('{"ref"'));
  expect(written).toEqual(documents);
  await to.close();
});

test.each([
  ['csv', 'no,a\n1,x\n9223372036854775808,y\n', 3],
  ['jsonl', '{"no":1}\n{"no":"9223372036854775808"}\n', 2],
  ['jsonl', `{"no":1}\n${personText('9223372036854775808')}\n`, 2],
  ['jsonl', `{"no":1}\n${personText('abc')}\n`, 2],
] as const)(
  'an invalid document id is refused with its line: %s %j',
  async (format, text, line) => {
    const database = await openPeople();
    const options = { format, collection: 'people', id: 'no' } as const;
    await expect(importDatabase(database, text, options)).rejects.toMatchObject({
      code: 'invalid_line',
      line,
      message: expect.stringContaining('from 0 to 9223372036854775807') as unknown,
    });
    expect(await database.client().query(q.Count(q.Documents(q.Collection('people'))))).toBe(0);
  },
);

test.each(['5', '"2027-01-01"', '{"@date":"2027-01-01"}', 'true'])(
  'a document whose ttl is not a time is refused instead of counted as expired: %s',
  async (ttl) => {
    const database = await openPeople();
    const lines = blobOf('{"n":1}', personText('2', `"data":{"n":2},"ttl":${ttl}`));
    await expect(importDatabase(database, lines, JSONL)).rejects.toMatchObject({
      code: 'invalid_line',
      line: 2,
      message: expect.stringContaining('`ttl` must be a time') as unknown,
    });
    expect(await database.client().query(q.Count(q.Documents(q.Collection('people'))))).toBe(0);
  },
);

test('the largest document id is imported', async () => {
  const database = await openPeople();
  const lines = '{"no":"9223372036854775807","a":1}\n';
  await importDatabase(database, lines, { format: 'jsonl', collection: 'people', id: 'no' });
  expect(await database.client().query(dataOf('9223372036854775807'))).toEqual({ a: 1 });
});

const nowhere = '{"@ref":{"id":"here","collection":{"@ref":{"id":"databases"}}}}';
const notThere =
  "The database 'here' does not exist, or the key may not read it: create it before the import.";

test.each([
  ['a:json', `"[{""x"":${nowhere.replaceAll('"', '""')}}]"`, `a.0.x: ${notThere}`],
  [
    'a:json',
    '"{""object"":{""@obj"":{""@ts"":[{""@ts"":""x""}]}}}"',
    'a.object.@ts.0: Invalid time.',
  ],
])('the error for a refused cell names its column: %s %s', async (first, cell, why) => {
  const database = await openPeople();
  const table = blobOf(`${first},b`, '"1",x', `${cell},y`);
  await expect(importDatabase(database, table, CSV)).rejects.toMatchObject({
    code: 'refused',
    line: 3,
    message: expect.stringMatching(/^Line 3: The database refused it: /) as unknown,
    errors: [{ description: expect.stringContaining(why) as unknown }],
  });
});

test.each([
  [`{"a":{"x":[1,${nowhere}]}}`, `a.x.1: ${notThere}`],
  ['{"a":{"x":[1,{"@ts":"noon"}]}}', 'a.x.1: Invalid time.'],
  [personText('2', `"data":{"x":${nowhere}}`), `data.x: ${notThere}`],
  [personText('2', '"data":{"x":{"@bytes":"-"}}'), 'data.x: Invalid bytes.'],
  [personText('2', '"data":5'), 'data: Invalid type Integer'],
])('the error for a refused member names its path in the line: %s', async (text, why) => {
  const database = await openPeople();
  const failure: unknown = await importDatabase(database, blobOf('{"a":1}', text), JSONL).catch(
    (reason: unknown) => reason,
  );
  expect(failure).toMatchObject({ code: 'refused', line: 2 });
  const [refusal] = (failure as DataError).errors;
  expect((failure as DataError).message).toBe(
    `Line 2: The database refused it: ${refusal?.code}: ${refusal?.description}`,
  );
  expect(refusal?.description).toContain(why);
  expect(refusal?.description).not.toMatch(/map|collection|object/);
});

test('a document that refers to a child database is imported if that database exists', async () => {
  const database = await openPeople();
  await database.client().query(q.CreateDatabase({ name: 'here' }));
  const line = personText('2', `"data":{"x":${nowhere}}`);
  expect(await importDatabase(database, blobOf(line), JSONL)).toMatchObject({ imported: 1 });
});

test('an id that occurs twice in a source is refused with its line', async () => {
  const database = await openPeople();
  const lines = new Blob(['{"no":1,"a":1}\n{"no":2,"a":2}\n{"no":1,"a":3}\n']);
  const options = { format: 'jsonl', collection: 'people', id: 'no' } as const;
  await expect(importDatabase(database, lines, options)).rejects.toMatchObject({
    code: 'clash',
    line: 3,
    message: expect.stringContaining('or is in the source twice') as unknown,
  });
});

test('importDatabase() reads a compressed source, and a last line without a line end', async () => {
  const database = await openPeople();
  const lines = new Blob(['{"a":1}\n{"a":2}']).stream();
  const zipped = lines.pipeThrough(new CompressionStream('gzip'));
  expect(
    await importDatabase(database, zipped, { format: 'jsonl', collection: 'people' }),
  ).toMatchObject({ imported: 2 });
  expect((await packed(database)).size).toBeGreaterThan(0);
});
