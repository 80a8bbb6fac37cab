import { expect, test } from 'vitest';
import { openDatabase } from '../in-process/testing.ts';
import { q } from '../src/index.ts';
import { fieldText, readSchema } from './schema.ts';

test('readSchema() reads every form of index definition, and marks fields that find nothing', async () => {
  const db = await openDatabase();
  const client = db.client();
  await client.query(q.CreateCollection({ name: 'notes' }));
  const source = q.Collection('notes');
  const index = (params: object) => client.query(q.CreateIndex({ source, ...params } as never));
  await index({ name: 'of_one', terms: { field: ['data', 'tag'] }, values: { field: 'ts' } });
  await index({ name: 'of_several', terms: [{ field: ['data', 'tag'] }, { field: 'ref' }] });
  await index({ name: 'of_none', values: [{ field: 'data.tag', reverse: true }] });
  const folded = [{ field: ['data', 'tag'], transform: 'casefold' }];
  await index({ name: 'of_folded', terms: folded });
  const { indexes } = await readSchema(client);
  expect(indexes.find(({ name }) => name === 'of_folded')?.terms).toMatchObject(folded);
  const shown = indexes.map(({ name, terms, values }) => [
    name,
    terms.map(fieldText),
    values.map(fieldText),
  ]);
  expect(Object.fromEntries(shown.map(([name, ...fields]) => [name, fields]))).toEqual({
    of_folded: [['data.tag'], []],
    of_one: [['data.tag'], ['ts']],
    of_several: [['data.tag', 'ref'], []],
    of_none: [[], [`["data.tag"] (finds nothing: a path is ["data", …])`]],
  });
  await db.close();
});
