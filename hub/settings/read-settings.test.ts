import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SettingsFault } from './option-values.ts';
import { readSettings } from './read-settings.ts';
import { SETTINGS, variableOf } from './settings-table.ts';

const folder = mkdtempSync(join(tmpdir(), 'burrow-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(json: unknown): string {
  const path = join(folder, 'hub.json');
  writeFileSync(path, typeof json === 'string' ? json : JSON.stringify(json));
  return path;
}

test('readSettings() prefers flags to variables, variables to the file, and the file to defaults', () => {
  const config = file({ port: 1, rate: 3, cors: ['https://a.example', 'https://b.example'] });
  const environment = { BURROW_PORT: '2', BURROW_REGION_GROUP: 'eu-std', BURROW_CONFIG: config };
  expect(readSettings({ port: '3' }, environment)).toMatchObject({
    port: 3,
    regionGroup: 'eu-std',
  });
  expect(readSettings({}, environment)).toMatchObject({
    port: 2,
    host: '127.0.0.1',
    data: './burrow-data',
    corsOrigins: ['https://a.example', 'https://b.example'],
    ratePerToken: 3,
    sockets: 4000,
    headerMs: 10_000,
  });
  expect(readSettings({ config }, {})).toMatchObject({ port: 1 });
  expect(readSettings({ host: '[::1]' }, {})).toMatchObject({ host: '::1' });
  expect(readSettings({}, {})).toMatchObject({
    port: 8443,
    tlsCert: undefined,
    postgres: undefined,
  });
});

test('--data is refused if the environment or a file names a server', () => {
  const environment = { BURROW_POSTGRES: 'postgres://db/burrow' };
  const config = file({ postgres: 'postgres://db/burrow' });
  const refusal =
    /--data is given, but BURROW_POSTGRES .* a PostgreSQL server: leave one of them out/u;
  expect(() => readSettings({ data: './restored' }, environment)).toThrow(refusal);
  expect(() => readSettings({ data: './restored', config }, {})).toThrow(refusal);
  expect(readSettings({ data: './restored' }, { BURROW_POSTGRES: '' }).postgres).toBeUndefined();
  const other = { data: './restored', postgres: 'postgres://other/burrow' };
  expect(readSettings(other, environment).postgres).toBe(other.postgres);
});

test.each([
  [{ BURROW_PORT: 'x' }, "Invalid BURROW_PORT: expected a whole number from 0 to 65535, got 'x'."],
  [{ BURROW_POSTGRES: 'mysql://x' }, 'Invalid BURROW_POSTGRES: expected a URL like postgres://'],
  [
    { BURROW_DATA: 'postgres://host/database' },
    'Invalid BURROW_DATA: expected a folder, got a URL.',
  ],
  [{ BURROW_FILES: 's3://photos' }, 'or the URL of a bucket like https://host/bucket'],
  [{ BURROW_ROOT_SECRET: 'short' }, 'expected at least 24'],
  [{ BURROW_ROOT_SECRET: 'with:colon:is:a:scope:of:a:secret' }, 'expected at least 24'],
  [{ BURROW_CORS: 'https://a.example/path' }, 'expected origins like'],
  [{ BURROW_CORS: 'https://*.a.example' }, 'expected origins like'],
  [{ BURROW_CORS: 'chrome-extension://*' }, 'expected origins like'],
  [{ BURROW_CORS: 'capacitor://localhost/' }, 'expected origins like'],
  [{ BURROW_CORS: 'a.example' }, 'expected origins like'],
  [{ BURROW_CORS: 'https://A.example' }, 'expected origins like'],
  [{ BURROW_LOG_LEVEL: 'loud' }, 'expected one of fatal'],
  [{ BURROW_QUERY_LOG: 'maybe' }, "'on' or 'off'"],
  [{ BURROW_HASH_COST: '4' }, 'from 10 to 14'],
  [{ BURROW_TLS_KEY: 'key.pem' }, 'both --tls-cert and --tls-key'],
  [{ BURROW_QUERY_TIMEOUT: '9000', BURROW_QUERY_TIMEOUT_MAX: '10' }, 'must not be greater than'],
  [{ BURROW_TENANT: 'Acme' }, 'expected at most 63 lower-case letters, digits, dashes and under'],
  [{ BURROW_TENANT: 'acme' }, '--tenant needs --postgres'],
  [{ BURROW_CONFIG: '/nowhere/hub.json' }, 'Cannot read the configuration file'],
  [{ BURROW_TRUST_PROXY: '10.0.0.0/8' }, "expected addresses like 10.0.0.2, got '10.0.0.0/8'"],
  [{ BURROW_TRUST_PROXY: '10.0.0.2,proxy' }, "expected addresses like 10.0.0.2, got 'proxy'"],
  [{ BURROW_ALLOW_HOST: 'https://hub.example' }, 'expected names of hosts like hub.example'],
  [{ BURROW_ALLOW_HOST: 'hub.example:8443' }, 'expected names of hosts like hub.example'],
  [{ BURROW_ALLOW_HOST: '*' }, 'expected names of hosts like hub.example'],
])('the variables %j are refused with one sentence', (environment, sentence) => {
  expect(() => readSettings({}, environment)).toThrow(SettingsFault);
  expect(() => readSettings({}, environment)).toThrow(sentence);
});

test('origins of app shells, extensions and files can be listed', () => {
  const cors = [
    'capacitor://localhost',
    'ionic://localhost',
    'http://localhost',
    'https://localhost',
    'tauri://localhost',
    'http://tauri.localhost',
    'app://.',
    'chrome-extension://gpcdmnbbkifgbhkidiiccbjhajbngkma',
    'moz-extension://0a1b2c3d-0000-4000-8000-000000000000',
    'file://',
    'null',
  ];
  expect(readSettings({ cors: cors.join(', ') }, {}).corsOrigins).toEqual(cors);
});

test.each([
  ['[]', 'must hold a JSON object'],
  ['{"prot":1}', 'unknown settings: prot. Known settings: host'],
  ['{"port":"x"}', "'port' in"],
  ['{"files":null}', "Invalid 'files' in"],
  ['{"data":{"folder":"x"}}', "Invalid 'data' in"],
])('the configuration file %s is refused with one sentence', (text, sentence) => {
  expect(() => readSettings({ config: file(text) }, {})).toThrow(sentence);
});

test('empty variables count as unset', () => {
  const environment = { BURROW_PORT: '', BURROW_CONFIG: '', BURROW_ROOT_SECRET: '' };
  expect(readSettings({}, environment)).toMatchObject({ port: 8443, rootSecret: undefined });
});

test.each([
  ['BURROW_DTAA', 'BURROW_DATA'],
  ['BURROW_ROOT_SECRETS', 'BURROW_ROOT_SECRET'],
  ['BURROW_TRUSTED_PROXY', 'BURROW_TRUST_PROXY'],
  ['BURROW_CONFG', 'BURROW_CONFIG'],
])('a misspelt variable is refused, without its value: %s', (name, meant) => {
  expect(() => readSettings({}, { [name]: 'canary' })).toThrow(
    new SettingsFault(`There is no variable ${name}. Did you mean ${meant}?`),
  );
});

test('the BURROW_PORT that Kubernetes sets for a service is ignored', () => {
  const environment = { BURROW_PORT: 'tcp://10.96.0.12:8443', BURROW_SERVICE_PORT: '8443' };
  expect(readSettings({}, environment).port).toBe(8443);
  expect(readSettings({ port: '9000' }, environment).port).toBe(9000);
});

test('variables that are not settings of the hub are ignored', () => {
  const environment = { BURROW_URL: 'x', BURROW_SECRET: 'x', BURROW_SERVICE_HOST: 'x', PORT: '1' };
  expect(readSettings({}, environment).port).toBe(8443);
});

test('addresses of proxies are normalized like those of sockets', () => {
  const environment = {
    BURROW_TRUST_PROXY: '10.0.0.2, FD00::1, fd00:0:0::00a2, ::ffff:10.0.0.3, fe80::1%eth0',
  };
  const read = ['10.0.0.2', 'fd00::1', 'fd00::a2', '10.0.0.3', 'fe80::1%eth0'];
  expect(readSettings({}, environment).trustedProxies).toEqual(read);
});

test.each(['{"rootSecret": canary-canary-canary-canary}', '{"rootSecret":"canary",}', 'canary'])(
  'the error for a file that is not JSON quotes nothing: %s',
  (text) => {
    expect(() => readSettings({ config: file(text) }, {})).toThrow(
      /^(?![^]*canary)Cannot read the configuration file .* as JSON: /,
    );
  },
);

test('the error for an invalid secret does not quote it', () => {
  for (const name of ['BURROW_ROOT_SECRET', 'BURROW_POSTGRES'])
    expect(() => readSettings({}, { [name]: 'canary:' })).toThrow(/^(?!.*canary)Invalid BURROW_/);
  for (const name of ['BURROW_FILES', 'BURROW_PUBLIC_URL'])
    expect(() => readSettings({}, { [name]: 'https://key:canary@host/bucket' })).toThrow(
      /^(?!.*canary)Invalid BURROW_.*: expected a URL without a password/,
    );
});

const TABLE = /(?<=<!-- settings: made by npm run docs -->\n)[^]*(?=<!-- end of settings -->)/;

test('the table of settings in docs/hub.md is up to date', async () => {
  const path = new URL('../../docs/hub.md', import.meta.url).pathname;
  const rows = Object.values(SETTINGS).map((setting) => {
    const cells = [setting.flag, variableOf(setting)].map((code) => `\`${code}\``);
    return `| ${[...cells, setting.help, setting.shownDefault].join(' | ').replace('on|off', 'on\\|off')} |`;
  });
  const table = ['| flag | variable | | default |', '|---|---|---|---|', ...rows].join('\n');
  const docs = readFileSync(path, 'utf8');
  expect(docs).toMatch(TABLE);
  await expect(docs.replace(TABLE, () => `\n${table}\n\n`)).toMatchFileSnapshot(path);
});
