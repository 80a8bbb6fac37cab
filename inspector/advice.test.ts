import { expect, test } from 'vitest';
import { q, queryText, type Arg } from '../src/index.ts';
import { adviseOn, isSlow, type AdvisedQuery } from './advice.ts';
import { build } from './fql/build.ts';
import type { IndexInfo, SchemaInfo } from './schema.ts';

const METRICS = {
  bytesIn: 100,
  bytesOut: 100,
  computeOps: 1,
  readOps: 0,
  writeOps: 0,
  readBytes: 100_000,
  writeBytes: 0,
  queryTime: 1,
  retries: 0,
};

const asked = (query: Arg, documents = 1000, entries = 1000): AdvisedQuery => ({
  query: queryText(query),
  metrics: METRICS,
  reads: { collections: [{ name: 'notes', count: documents }], indexes: [], entries },
});

const field = (...path: readonly string[]) => ({ field: path, binding: undefined });
const index = (name: string, more: Partial<IndexInfo>): IndexInfo => ({
  name,
  sources: ['notes'],
  terms: [],
  values: [],
  isUnique: false,
  isActive: true,
  ...more,
});
const schemaOf = (...indexes: readonly IndexInfo[]): SchemaInfo => ({
  collections: ['notes'],
  indexes,
  functions: [],
});

const notes = q.Documents(q.Collection('notes'));
const tag = (ref: Arg) => q.Select(['data', 'tag'], q.Get(ref));

test('adviseOn() suggests an index for a filter that compares a field', () => {
  const query = asked(q.Count(q.Filter(notes, (ref) => q.Equals(tag(ref), 'bird'))));
  const [advice] = adviseOn(query, schemaOf());
  expect(advice).toEqual({
    reason:
      'The filter looks at every document of “notes” for those with one “data.tag”. An index with this field as a term finds them at once.',
    create:
      'CreateIndex({ name: "notes_by_tag", source: Collection("notes"), terms: [{ field: ["data", "tag"] }] })',
    use: 'Match(Index("notes_by_tag"), "bird")',
  });
  expect(() => build(advice?.create ?? '')).not.toThrow();
});

test('adviseOn() names an existing index if it is active', () => {
  const query = asked(q.Filter(notes, (ref) => q.Equals('bird', tag(ref))));
  const [advice] = adviseOn(query, schemaOf(index('tagged', { terms: [field('data', 'tag')] })));
  expect(advice).toMatchObject({ create: undefined, use: 'Match(Index("tagged"), "bird")' });
  const building = index('tagged', { terms: [field('data', 'tag')], isActive: false });
  expect(adviseOn(query, schemaOf(building))[0]?.create).toContain('notes_by_tag');
});

test('adviseOn() adds the field to the terms of a Match, and understands index values', () => {
  const owned = index('notes_by_owner', { terms: [field('data', 'owner')] });
  const match = q.Match(q.Index('notes_by_owner'), 'ada');
  const query = asked(q.Filter(match, (ref) => q.Equals(tag(ref), 'bird')));
  expect(adviseOn(query, schemaOf(owned))[0]).toMatchObject({
    create: expect.stringContaining(
      'terms: [{ field: ["data", "owner"] }, { field: ["data", "tag"] }]',
    ) as string,
    use: 'Match(Index("notes_by_owner_and_tag"), ["ada", "bird"])',
  });
  const all = index('all', {
    values: [
      { ...field('data', 'tag'), reverse: false },
      { ...field('ref'), reverse: false },
    ],
  });
  const ofValues = q.Filter(
    q.Match(q.Index('all')),
    q.Lambda(['tag', 'ref'], q.Equals(q.Var('tag'), 'bird')),
  );
  expect(adviseOn(asked(ofValues), schemaOf(all))[0]?.use).toBe(
    'Match(Index("notes_by_tag"), "bird")',
  );
});

test('adviseOn() suggests an ordered index for a comparison, also of documents on a page', () => {
  const page = q.Map(q.Paginate(notes, { size: 1000 }), (ref) => q.Get(ref));
  const query = asked(q.Filter(page, (note) => q.GT(q.Select(['data', 'at'], note), 5)));
  const [advice] = adviseOn(query, schemaOf());
  expect(advice).toMatchObject({
    create:
      'CreateIndex({ name: "notes_sorted_by_at", source: Collection("notes"), values: [{ field: ["data", "at"] }, { field: ["ref"] }] })',
    use: 'Range(Match(Index("notes_sorted_by_at")), from, to)',
  });
  const sorted = index('by_time', { values: [{ ...field('data', 'at'), reverse: false }] });
  expect(adviseOn(query, schemaOf(sorted))[0]).toMatchObject({
    create: undefined,
    use: 'Range(Match(Index("by_time")), from, to)',
  });
});

test('adviseOn() suggests index values for a page that reads few fields of each document', () => {
  const titles = q.Map(q.Paginate(notes, { size: 1000 }), (ref) => ({
    title: q.Select(['data', 'title'], q.Get(ref)),
    tag: tag(ref),
  }));
  expect(adviseOn(asked(titles), schemaOf())[0]?.create).toContain(
    'values: [{ field: ["data", "title"] }, { field: ["data", "tag"] }, { field: ["ref"] }]',
  );
  expect(adviseOn(asked(titles, 5, 5), schemaOf()), 'few documents').toEqual([]);
  const whole = q.Map(q.Paginate(notes), (ref) => q.Get(ref));
  expect(
    adviseOn({ ...asked(whole), metrics: { ...METRICS, bytesOut: 90_000 } }, schemaOf()),
  ).toEqual([]);
});

test('adviseOn() reports many reads for a short answer if it knows no remedy', () => {
  const [advice] = adviseOn(asked(q.Count(notes)), schemaOf());
  expect(advice?.reason).toContain('read 1000 documents and went through 1000 entries');
  expect(adviseOn({ ...asked(q.Count(notes)), query: undefined }, schemaOf())).toHaveLength(1);
});

test('adviseOn() suggests no index that would change the answer', () => {
  const filters = [
    q.Filter(notes, (ref) => q.Not(q.Equals(tag(ref), 'bird'))),
    q.Filter(notes, (ref) => q.Or(q.Equals(tag(ref), 'bird'), q.Equals(tag(ref), 'frog'))),
    q.Filter(notes, (ref) => q.If(q.Equals(tag(ref), 'bird'), false, true)),
    q.Filter(notes, (ref) => q.Not(q.GT(tag(ref), 5))),
    q.Filter(notes, (ref) => q.Equals(tag(ref), null)),
    q.Filter(notes, (ref) => q.Equals(tag(ref), ['bird', 'frog'])),
  ];
  for (const filter of filters)
    expect(
      adviseOn(asked(filter), schemaOf()).map(({ create, use }) => create ?? use),
      queryText(filter),
    ).toEqual([undefined]);
});

test('adviseOn() keeps the filter if it has other conditions', () => {
  const both = q.Filter(notes, (ref) =>
    q.And(q.GT(q.Select(['data', 'at'], q.Get(ref)), 5), q.And(true, q.Equals(tag(ref), 'bird'))),
  );
  expect(adviseOn(asked(both), schemaOf())).toMatchObject([
    { use: 'Match(Index("notes_by_tag"), "bird")', keepsFilter: true },
  ]);
});

test('adviseOn() names no index that finds other documents', () => {
  const query = asked(q.Filter(notes, (ref) => q.Equals(tag(ref), 'bird')));
  const terms = [field('data', 'tag')];
  for (const other of [
    { terms: [{ ...field('data', 'tag'), transform: 'casefold' }] },
    { terms, sources: ['notes', 'users'] },
    { terms, sources: ['*'] },
  ])
    expect(adviseOn(query, schemaOf(index('other', other)))[0]?.create).toContain('notes_by_tag');
});

test('adviseOn() adds no field to an index whose terms are computed, or which has several sources', () => {
  const query = asked(
    q.Filter(q.Match(q.Index('owned'), 'ada'), (ref) => q.Equals(tag(ref), 'bird')),
  );
  const terms = [field('data', 'owner')];
  for (const owned of [
    { terms: [{ field: undefined, binding: 'owner' }] },
    { terms: [{ ...field('data', 'owner'), transform: 'casefold' }] },
    { terms, sources: ['notes', 'users'] },
  ])
    expect(adviseOn(query, schemaOf(index('owned', owned)))[0]?.create).toBeUndefined();
});

test('isSlow() depends on the time or the reads', () => {
  expect(isSlow(asked(1))).toBe(true);
  expect(isSlow(asked(1, 1, 1))).toBe(false);
  expect(isSlow({ ...asked(1, 1, 1), metrics: { ...METRICS, queryTime: 100 } })).toBe(true);
  expect(isSlow({ metrics: { ...METRICS, readOps: 500 }, reads: undefined })).toBe(true);
});
