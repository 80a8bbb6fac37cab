import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readSettings, SettingsFault } from './read-settings.ts';
import { SETTINGS, variableOf, type SettingName } from './settings-table.ts';

const folder = mkdtempSync(join(tmpdir(), 'burrow-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(json: unknown): string {
  const path = join(folder, 'hub.json');
  writeFileSync(path, typeof json === 'string' ? json : JSON.stringify(json));
  return path;
}

test('readSettings() takes a flag before a variable, that before the file, and that before what is usual', () => {
  const config = file({ port: 1, rate: 3, cors: ['https://a.example', 'https://b.example'] });
  const environment = { BURROW_PORT: '2', BURROW_REGION_GROUP: 'eu-std', BURROW_CONFIG: config };
  expect(readSettings({ port: 3 }, environment)).toMatchObject({ port: 3, regionGroup: 'eu-std' });
  expect(readSettings({}, environment)).toMatchObject({
    port: 2,
    host: '127.0.0.1',
    data: './burrow-data',
    corsOrigins: ['https://a.example', 'https://b.example'],
    limits: { ratePerToken: 3, sockets: 1000, headerMs: 10_000 },
  });
  expect(readSettings({ config }, {})).toMatchObject({ port: 1 });
  expect(readSettings({}, {})).toMatchObject({ port: 8443, tls: undefined, postgres: undefined });
});

test.each([
  [{ BURROW_PORT: 'x' }, 'BURROW_PORT cannot be used. A whole number from 0 to 65535'],
  [{ BURROW_POSTGRES: 'mysql://x' }, 'BURROW_POSTGRES cannot be used'],
  [{ BURROW_ROOT_SECRET: 'short' }, 'At least 24'],
  [{ BURROW_ROOT_SECRET: 'with:colon:is:a:scope:of:a:secret' }, 'At least 24'],
  [{ BURROW_CORS: 'https://a.example/path' }, 'is no origin'],
  [{ BURROW_LOG_LEVEL: 'loud' }, 'One of fatal'],
  [{ BURROW_QUERY_LOG: 'maybe' }, "'on' or 'off'"],
  [{ BURROW_HASH_COST: '4' }, 'from 10 to 14'],
  [{ BURROW_TLS_KEY: 'key.pem' }, 'both --tls-cert and --tls-key'],
  [{ BURROW_QUERY_TIMEOUT: '9000', BURROW_QUERY_TIMEOUT_MAX: '10' }, 'greater than'],
  [{ BURROW_CONFIG: '/nowhere/hub.json' }, 'cannot be read as JSON'],
])('%j is refused with a sentence', (environment, sentence) => {
  expect(() => readSettings({}, environment)).toThrow(SettingsFault);
  expect(() => readSettings({}, environment)).toThrow(sentence);
});

test.each([
  ['[]', 'must hold a JSON object'],
  ['{"prot":1}', 'names settings that are not: prot'],
  ['{"port":"x"}', "'port' in"],
])('the file %s is refused with a sentence', (text, sentence) => {
  expect(() => readSettings({ config: file(text) }, {})).toThrow(sentence);
});

test('docs/hub.md names every setting', () => {
  const text = readFileSync(new URL('../../docs/hub.md', import.meta.url), 'utf8');
  for (const [name, { flag }] of Object.entries(SETTINGS)) {
    expect(text).toContain(
      `| \`${flag.replace('|', '\\|')}\` | \`${variableOf(name as SettingName)}\` |`,
    );
  }
});
