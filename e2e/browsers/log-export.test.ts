import { gunzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { engines } from './support/browser-test.ts';

const PASSWORD = 'canary-password-wren';

describe.for(engines)('%s', ([, test]) => {
  test('an export of the query log is a gzip file behind a blob URL of the page', async ({
    browser,
  }) => {
    const tab = await browser.start();
    const files = await tab.run(async (password) => {
      globalThis.db = await burrow.openDatabase('logged', { log: { enabled: true } });
      const { q } = burrow;
      const admin = db.client();
      await admin.query(q.CreateCollection({ name: 'users' }));
      await admin.query(q.Create(q.Ref(q.Collection('users'), '7'), { credentials: { password } }));
      await admin.query(q.Abort('on purpose')).catch(() => undefined);
      const { request_id } = await db.logs.request({
        time_start: new Date(Date.now() - 3_600_000),
        time_end: new Date(Date.now() + 3_600_000),
      });
      for (;;) {
        const record = await db.logs.status(request_id);
        if (['Pending', 'Requested', 'CreatingNewUrl'].includes(record.state)) continue;
        const url = record.presigned_url;
        if (url === undefined) return { url: record.state, bytes: [] };
        const file = await fetch(url);
        return { url, bytes: [...new Uint8Array(await file.arrayBuffer())] };
      }
    }, PASSWORD);
    expect(files.url).toMatch(/^blob:/);
    const text = gunzipSync(Uint8Array.from(files.bytes)).toString();
    const lines = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { readonly QUERY?: string; readonly ERROR_CODE?: string });
    expect(lines.map((line) => line.QUERY ?? '')).toEqual([
      expect.stringMatching(/create_collection/),
      expect.stringMatching(/"create"/),
      expect.stringMatching(/abort/),
    ]);
    expect(lines.at(-1)?.ERROR_CODE).toBe('transaction aborted');
    expect(text).not.toContain(PASSWORD);
  });
});
