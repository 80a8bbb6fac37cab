/** The refusals that callers get when the database failed. The server's own text stays in the cause: it may reveal data of others. */
import { Refusal, type RefusalCode } from '../../src/errors.ts';
import type { SqlFailure } from './sql-client.ts';

const TOO_LATE = ['time out', 'The database took too long: nothing was stored.'] as const;

/** By SQLSTATE, or its class. */
const REFUSED: Readonly<Record<string, readonly [RefusalCode, string]>> = {
  '40': ['contended transaction', 'The transaction conflicted with others too often: try again.'],
  '53100': ['quota_exceeded', 'The disk of the database is full: nothing was stored.'],
  '53': [
    'storage_unavailable',
    'The database has too little memory or too few connections: try again.',
  ],
  '54': ['limit_exceeded', 'The write is larger than the database accepts: nothing was stored.'],
  // By `statement_timeout` or `lock_timeout` of the server, or an administrator.
  '57014': TOO_LATE,
  '55P03': TOO_LATE,
};

/** The server is a standby, `default_transaction_read_only` is set, or a provider has made it read-only because its disk is full. */
export const READ_ONLY = '25006';

/** @param report receives what only the operator of the database can mend */
export function refusalFor(failure: SqlFailure, report?: (refusal: Refusal) => void): Refusal {
  const { code = '', isConnectionLoss } = failure;
  const expected = REFUSED[code] ?? REFUSED[code.slice(0, 2)];
  if (expected) return new Refusal(...expected, { cause: failure });
  const lost = code === READ_ONLY ? 'is read-only now' : 'cannot be reached';
  const description = isConnectionLoss
    ? `The database ${lost}: try again.`
    : `The database refused a statement with code ${code}: see the log of the hub.`;
  const refusal = new Refusal('storage_unavailable', description, { cause: failure });
  report?.(refusal);
  return refusal;
}
