import { expect } from '@playwright/test';
import { test } from './support/app-test.ts';

test('the original driver, bundled unchanged into an app, logs in, pages, counts and maps errors over db.fetch', async ({
  profile,
}) => {
  const page = await profile.openTab();
  const requests: string[] = [];
  const result = await page.evaluate(async () => {
    const { Client, q: call } = await loadDriver();
    const { fetch, rootSecret } = (globalThis.db = await burrow.openDatabase('driver', {}));
    const admin = new Client({ secret: rootSecret, fetch });
    await admin.query(call('CreateCollection', { name: 'users' }));
    await admin.query(call('CreateCollection', { name: 'notes' }));
    await admin.query(
      call('CreateIndex', {
        name: 'users_by_email',
        source: call('Collection', 'users'),
        terms: [{ field: ['data', 'email'] }],
        unique: true,
      }),
    );
    await admin.query(
      call('Create', call('Collection', 'users'), {
        data: { email: 'alice@example.org' },
        credentials: { password: 'correct horse' },
      }),
    );
    const ids = Array.from({ length: 25 }, (_, n) => n + 1);
    await admin.query(
      call(
        'Foreach',
        ids,
        call(
          'Lambda',
          'id',
          call('Create', call('Ref', call('Collection', 'notes'), call('Var', 'id')), { data: {} }),
        ),
      ),
    );
    const byEmail = call('Match', call('Index', 'users_by_email'), 'alice@example.org');
    const token = await admin.query(call('Login', byEmail, { password: 'correct horse' }));
    const alice = new Client({ secret: token['secret'], fetch });
    const pages: number[] = [];
    await admin
      .paginate(call('Documents', call('Collection', 'notes')), { size: 10 })
      .each((refs) => pages.push(refs.length));
    const failure = async (work: Promise<unknown>): Promise<unknown> => {
      try {
        return await work;
      } catch (error) {
        const { name, message, description, requestResult } = error as Error & {
          description: string;
          requestResult: { statusCode: number };
        };
        return { name, message, description, status: requestResult.statusCode };
      }
    };
    return {
      identity: JSON.stringify(await alice.query(call('CurrentIdentity'))),
      user: JSON.stringify(token['instance']),
      pages,
      metrics: await admin.queryWithMetrics(
        call('Count', call('Documents', call('Collection', 'notes'))),
      ),
      missing: await failure(
        admin.query(call('Get', call('Ref', call('Collection', 'notes'), '99'))),
      ),
      wrongPassword: await failure(admin.query(call('Login', byEmail, { password: 'wrong' }))),
      stranger: await failure(new Client({ secret: 'nobody', fetch }).query(1)),
      forbidden: await failure(alice.query(call('CreateCollection', { name: 'more' }))),
    };
  });
  page.on('request', (request) => requests.push(request.url()));
  expect(result.identity).toBe(result.user);
  expect(result.pages).toEqual([10, 10, 5]);
  expect(result.metrics.value).toBe(25);
  expect(result.metrics.metrics).toMatchObject({
    'x-byte-read-ops': expect.any(Number),
    'x-query-time': expect.any(Number),
  });
  expect(result.missing).toMatchObject({
    name: 'NotFound',
    message: 'instance not found',
    status: 404,
  });
  expect(result.wrongPassword).toMatchObject({
    name: 'BadRequest',
    message: 'authentication failed',
    status: 400,
  });
  expect(result.stranger).toMatchObject({
    name: 'Unauthorized',
    message: expect.stringMatching(/^unauthorized/),
    status: 401,
  });
  expect(result.forbidden).toMatchObject({
    name: 'PermissionDenied',
    message: 'permission denied',
    status: 403,
  });
  expect(requests).toEqual([]);
});
