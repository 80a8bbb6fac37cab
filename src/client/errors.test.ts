import { expect, test } from 'vitest';
import { FAULTS, MISUSES, REFUSALS } from '../errors.ts';
import * as burrow from '../index.ts';
import { refusalError, UsageError } from './errors.ts';
import { FakeWorker, type FakeAnswers } from './testing/fake-worker.ts';

const open = (answers: FakeAnswers): Promise<burrow.Database> =>
  burrow.openDatabase('notes', { worker: () => new FakeWorker(answers).asWorker() });

const exported = new Map<string, unknown>(Object.entries(burrow));

const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => {
      throw new Error(`It went well: ${String(value)}`);
    },
    (reason: unknown) => reason,
  );

const answers = (status: number, code: string): FakeAnswers => ({
  query: () =>
    Promise.resolve({
      status,
      body: JSON.stringify({ errors: [{ code, description: 'Why.', position: ['get'] }] }),
    }),
});

test.each(Object.entries({ ...FAULTS, ...REFUSALS }))(
  'an answer with the code %j rejects with the class of that code, whatever its status',
  async (code, row) => {
    const db = await open(answers(418, code));
    const error = await thrownBy(db.client().query(1));
    expect(error).toBeInstanceOf(exported.get(row.class));
    expect(error).toBeInstanceOf(burrow.QueryError);
    expect(error).toBeInstanceOf(burrow.BurrowError);
    expect(error).toMatchObject({
      name: row.class,
      code,
      description: 'Why.',
      message: `${code}: Why.`,
      retryable: 'retryable' in row,
      status: 418,
      position: ['get'],
    });
  },
);

test.each([
  ['unsent_writes', 'UnsentWrites', 409],
  ['contended transaction', 'ContendedTransaction', 409],
  ['log_not_complete', 'LogNotComplete', 409],
  ['locked', 'DatabaseLocked', 423],
  ['quota_exceeded', 'StorageFull', 507],
  ['outbox_full', 'OutboxFull', 507],
  ['connection_needed', 'ConnectionNeeded', 503],
  ['storage_blocked', 'UnavailableError', 503],
] as const)('the refusal %s becomes a %s with the status %d', (code, name, status) => {
  expect(refusalError(code, 'Why.')).toMatchObject({ code, name, status });
});

test('only errors of requests that had no effect are retryable', () => {
  const retryable = Object.entries(REFUSALS).flatMap(([code, row]) =>
    'retryable' in row ? [code] : [],
  );
  expect(retryable).toEqual([
    'request timeout',
    'contended transaction',
    'too many requests',
    'time out',
    'hub_unreachable',
    'storage_blocked',
    'log_not_complete',
  ]);
});

test('a code of a newer hub becomes `unknown_error`, and `errors` has the original code', async () => {
  const db = await open(answers(404, 'from tomorrow'));
  const error = await thrownBy(db.client().query(1));
  expect(error).toBeInstanceOf(burrow.InternalError);
  expect(error).toMatchObject({
    code: 'unknown_error',
    message: 'from tomorrow: Why.',
    status: 404,
    errors: [{ code: 'from tomorrow' }],
  });
});

test.each([
  [400, 'bad request'],
  [403, 'forbidden'],
  [404, 'not found'],
  [409, 'log_not_complete'],
  [423, 'locked'],
  [429, 'too many requests'],
  [500, 'internal server error'],
  [503, 'storage_unavailable'],
  [507, 'quota_exceeded'],
])(
  'the status %d of the log API, which sends no codes, becomes the code %j',
  async (status, code) => {
    const value = { status, headers: {}, body: '{"message":"Why."}' };
    const db = await open({ http: () => Promise.resolve({ ok: true, value }) });
    const error = await thrownBy(db.logs.createUrl('1'));
    expect(error).toMatchObject({ code, description: 'Why.' });
  },
);

test('errors of misuse have a code and a class, and are not a QueryError', async () => {
  const db = await open({});
  await db.close();
  const cases = [
    [thrownBy(burrow.openDatabase('')), burrow.UsageError, 'invalid_usage'],
    [thrownBy(burrow.openDatabase('notes')), burrow.Unsupported, 'unsupported'],
    [thrownBy(db.verify()), burrow.DatabaseClosed, 'database_closed'],
  ] as const;
  expect(cases.map(([, , code]) => code).toSorted()).toEqual(Object.keys(MISUSES).toSorted());
  for (const [thrown, type, code] of cases) {
    const error = await thrown;
    expect(error).toBeInstanceOf(type);
    expect(error).toBeInstanceOf(burrow.BurrowError);
    expect(error).not.toBeInstanceOf(burrow.QueryError);
    const { message } = error as burrow.BurrowError;
    expect(error).toMatchObject({ code, description: message, retryable: false, name: type.name });
  }
});

test('the code of an error narrows its type', () => {
  const told = (error: unknown): string => {
    if (!(error instanceof burrow.BurrowError)) return 'none of ours';
    switch (error.code) {
      case 'unsent_writes':
        return (error satisfies burrow.UnsentWrites) && 'connect first';
      case 'locked':
        return (error satisfies burrow.DatabaseLocked) && 'unlock it';
      case 'invalid_usage':
        // @ts-expect-error An error of misuse has no status, because it is not an answer.
        return error.status ?? ((error satisfies burrow.UsageError) && 'read the manual');
      case 'value not found':
      case 'instance not found':
        return (error satisfies burrow.NotFound) && `${error.status}`;
      // @ts-expect-error There is no such code.
      case 'document not found':
        return 'never';
      default:
        return error.retryable ? 'again' : error.description;
    }
  };
  expect(told(new Error('x'))).toBe('none of ours');
  expect(told(refusalError('unsent_writes', ''))).toBe('connect first');
  expect(told(refusalError('locked', ''))).toBe('unlock it');
  expect(told(new UsageError(''))).toBe('read the manual');
  expect(told(refusalError('time out', ''))).toBe('again');
  expect(told(refusalError('storage_unavailable', 'reload'))).toBe('reload');
});
