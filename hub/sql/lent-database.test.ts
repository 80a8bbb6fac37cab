/** What happens to a connection whose borrower has ended. */
import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { BorrowedDatabase } from './borrowed-database.ts';
import { LentDatabase } from './lent-database.ts';
import { SqlFailure, type SqlDatabase } from './sql-client.ts';

test('if a borrower ends and its connection is lost too, another connection is used to recover', async () => {
  const taken: number[] = [];
  const released: number[] = [];
  const recovered: number[] = [];
  const lost = new SqlFailure('The connection was lost.', undefined);
  const database: SqlDatabase = {
    isExclusive: true,
    roundTrips: 0,
    connect() {
      const n = taken.push(taken.length);
      return Promise.resolve({
        run: () => (n === 1 ? Promise.reject(lost) : Promise.resolve([])),
        release: () => void released.push(n),
      });
    },
    listen: () => undefined,
    close: () => Promise.resolve(),
  };
  const { port1: port, port2 } = new MessageChannel();
  const lent = new LentDatabase({
    database,
    port,
    onCommitted: () => undefined,
    async recover(connection) {
      await connection.run([]);
      recovered.push(taken.length);
    },
  });
  const borrowed = new BorrowedDatabase(port2);
  await borrowed.connect();
  await lent.end();
  expect(recovered).toEqual([2]);
  expect(released).toEqual([1, 2]);
  await borrowed.close();
});
