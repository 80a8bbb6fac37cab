import { expect, test } from 'vitest';
import { askOf } from './ask.ts';

/** A database that gives these answers and then succeeds. Records the queries. */
function answering(...answers: readonly (readonly [status: number, code: string])[]) {
  const asked: string[] = [];
  const fetch = (_: string, { body }: { readonly body: string }) => {
    const [status, code] = answers[asked.length] ?? [200];
    asked.push(body);
    const errors = [{ position: [], code, description: 'Why.' }];
    return Promise.resolve(
      Response.json(status === 200 ? { resource: 1 } : { errors }, { status }),
    );
  };
  return { asked, fetch };
}

test.each([
  [409, 'contended transaction'],
  [429, 'too many requests'],
  [503, 'time out'],
  [503, 'storage_blocked'],
])('a query that was not executed is sent again, even a write: %i %s', async (status, code) => {
  const database = answering([status, code]);
  expect(await askOf(database, {})('1')).toBe(1);
  expect(database.asked).toHaveLength(2);
});

test.each(['storage_unavailable', 'worker_lost', 'connection_needed'])(
  'a write that may have been executed is not sent again, and fails with outcome_unknown: %s',
  async (code) => {
    const database = answering([503, code]);
    await expect(askOf(database, {})('1')).rejects.toMatchObject({
      code: 'outcome_unknown',
      message: `The query may have run: ${code}: Why.`,
      errors: [{ code, description: 'Why.' }],
    });
    expect(database.asked).toHaveLength(1);
    const reading = answering([503, code]);
    expect(await askOf(reading, {}, true)('1')).toBe(1);
  },
);

/** A server in between answers in place of the database. */
function answeringFor(statuses: readonly number[]) {
  const database = answering();
  const page = '<html><body>Not of the database.</body></html>';
  const fetch = (...call: Parameters<typeof database.fetch>) => {
    const status = statuses[database.asked.length];
    if (status === undefined) return database.fetch(...call);
    database.asked.push(page);
    return Promise.resolve(new Response(page, { status }));
  };
  return { asked: database.asked, fetch };
}

test.each([
  [200, 'outcome_unknown'],
  [502, 'outcome_unknown'],
  [503, 'outcome_unknown'],
  [504, 'outcome_unknown'],
  [404, 'refused'],
  [413, 'refused'],
])('a write answered by a proxy with %i fails with the code %s', async (status, code) => {
  const database = answeringFor([status]);
  await expect(askOf(database, {})('1')).rejects.toMatchObject({
    code,
    message: expect.stringContaining(
      `The response, with status ${status}, is not from a database.`,
    ) as string,
  });
  expect(database.asked).toHaveLength(1);
});

test('after a temporary refusal by a proxy, reads are sent again, and writes only if that is safe', async () => {
  const reading = answeringFor([503, 429]);
  expect(await askOf(reading, {}, true)('1')).toBe(1);
  expect(reading.asked).toHaveLength(3);
  const writing = answeringFor([429]);
  expect(await askOf(writing, {})('1')).toBe(1);
});

test('a query that was refused permanently is sent once', async () => {
  const database = answering([400, 'invalid argument'], [500, 'internal server error']);
  const ask = askOf(database, {}, true);
  for (const code of ['invalid argument', 'internal server error'])
    await expect(ask('1')).rejects.toMatchObject({ code: 'refused', errors: [{ code }] });
  expect(database.asked).toHaveLength(2);
});

test('each query sends the latest transaction time seen, in case its hub has a slow clock', async () => {
  const told: (string | undefined)[] = [];
  const times = ['7', '5', '9'];
  const fetch = (
    _: string,
    { headers }: { readonly headers: Readonly<Record<string, string>> },
  ) => {
    told.push(headers['x-last-seen-txn']);
    const time = times[told.length - 1];
    const response = Response.json({ resource: 1 });
    if (time !== undefined) response.headers.set('x-txn-time', time);
    return Promise.resolve(response);
  };
  const ask = askOf({ fetch }, {});
  for (let i = 0; i < 4; i++) await ask('1');
  expect(told).toEqual(['0', '7', '7', '9']);
});
