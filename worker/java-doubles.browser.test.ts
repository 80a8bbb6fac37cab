/** Functions of Doubles: browsers compute the same as a hub. */
import { expect, test } from 'vitest';
import { openDatabase } from '../src/index.ts';
import { JAVA_DOUBLES } from '../src/query/testing/java-doubles.ts';
import { wireOf } from './testing/wire-query.ts';

test('functions of Doubles return what Java returned', async () => {
  const db = await openDatabase(`doubles-${Date.now()}`, { durability: 'relaxed' });
  const found = await db
    .client()
    .query(wireOf<readonly number[]>(JAVA_DOUBLES.map(([query]) => query)));
  expect(JAVA_DOUBLES.map(([query], at) => [query, found[at]])).toEqual(JAVA_DOUBLES);
  await db.destroy();
});
