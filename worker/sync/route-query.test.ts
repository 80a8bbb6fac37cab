import { expect, test } from 'vitest';
import type { QueryCall, QueryReply } from '../../src/host/query.ts';
import { answerQuery } from './route-query.ts';
import type { SyncSession } from './session.ts';

const call = { secret: 's', query: '1', at: 'hub-or-copy' } as unknown as QueryCall;
const OF_COPY = { status: 200, body: '{"resource":1}' } as QueryReply;

const askedAt = (status: number) =>
  answerQuery(
    {
      secret: 's',
      isInContact: true,
      ask: () => Promise.resolve({ status, body: '{"errors":[]}', isFromHub: true }),
    } as unknown as SyncSession,
    { run: () => Promise.resolve(OF_COPY) },
    call,
    {},
  );

test.each([401, 429, 500, 503])(
  'the copy answers a query when the hub has answered with status %d',
  async (status) => {
    expect(await askedAt(status)).toBe(OF_COPY);
  },
);

test('an answer of the hub with status 403 is returned', async () => {
  expect(await askedAt(403)).toMatchObject({ status: 403, isFromHub: true });
});
