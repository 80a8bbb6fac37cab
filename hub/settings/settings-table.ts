/** Every setting of a hub: its flag, its environment variable, its name in a configuration file, how it is checked. */
import { LIMITS } from '../../src/limits.ts';
import { DEFAULT_SETTINGS, LOG_LEVELS, type HubLimits } from './settings.ts';
import {
  anyText,
  baseUrl,
  integer,
  list,
  oneOf,
  onOff,
  origins,
  postgresUrl,
  rootSecret,
  type Parse,
} from './option-values.ts';

export interface SettingRow<T = unknown> {
  readonly flag: string;
  readonly help: string;
  readonly parse: Parse<T>;
  /** As it would be written. */
  readonly standard?: string;
}

const row = <T>(flag: string, help: string, parse: Parse<T>, standard?: string): SettingRow<T> => ({
  flag,
  help,
  parse,
  ...(standard !== undefined && { standard }),
});

const { limits, queryLog } = DEFAULT_SETTINGS;
const BIG = 2 ** 40;

const limit = (name: keyof HubLimits, flag: string, help: string, min: number, max: number) =>
  row(flag, help, integer(min, max), String(limits[name]));

/** By the names they have in a configuration file. */
export const SETTINGS = {
  host: row('--host <address>', 'where to listen', anyText, DEFAULT_SETTINGS.host),
  port: row(
    '--port <number>',
    'where to listen; 0 is any that is free',
    integer(0, 65_535),
    String(DEFAULT_SETTINGS.port),
  ),
  data: row(
    '--data <folder>',
    'folder of the embedded PGlite; memory: keeps nothing',
    anyText,
    DEFAULT_SETTINGS.data,
  ),
  postgres: row('--postgres <url>', 'a PostgreSQL to use instead of the folder', postgresUrl),
  rootSecret: row(
    '--root-secret <secret>',
    'counts from now on; made and printed once when never given',
    rootSecret,
  ),
  regionGroup: row(
    '--region-group <name>',
    'name in query logs and log exports',
    anyText,
    DEFAULT_SETTINGS.regionGroup,
  ),
  tlsCert: row('--tls-cert <file>', 'certificate chain, PEM', anyText),
  tlsKey: row('--tls-key <file>', 'private key, PEM', anyText),
  cors: row('--cors <origins>', 'origins of pages that may ask, by commas; * is any', origins, ''),
  allowHost: row('--allow-host <names>', 'other names for a hub on loopback, by commas', list, ''),
  trustProxy: row(
    '--trust-proxy <addresses>',
    'proxies whose X-Forwarded-For is believed, by commas',
    list,
    '',
  ),
  publicUrl: row(
    '--public-url <url>',
    'where callers see this hub; begins the URLs of exported logs',
    baseUrl,
  ),
  metrics: row(
    '--metrics <who>',
    'who may read /metrics: admin keys of the root, or anybody',
    oneOf('admin', 'open'),
    DEFAULT_SETTINGS.metrics,
  ),
  hashCost: row(
    '--hash-cost <number>',
    'cost of new password hashes (bcrypt)',
    integer(LIMITS.hashCostNewMin, LIMITS.hashCostMax),
    String(DEFAULT_SETTINGS.hashCost),
  ),
  queryLog: row('--query-log <on|off>', 'whether queries are recorded, for exports', onOff, 'on'),
  logDays: row(
    '--log-days <number>',
    'days that query records are kept',
    integer(1, 36_500),
    String(queryLog.retentionDays),
  ),
  logBytes: row(
    '--log-bytes <number>',
    'bytes of query records that are kept',
    integer(1024, BIG),
    String(queryLog.maxBytes),
  ),
  logLevel: row(
    '--log-level <level>',
    LOG_LEVELS.join(', '),
    oneOf(...LOG_LEVELS),
    DEFAULT_SETTINGS.logLevel,
  ),
  rate: limit(
    'ratePerToken',
    '--rate <number>',
    'queries a second of one token; 0 turns rates off',
    0,
    1_000_000,
  ),
  rateAddress: limit(
    'ratePerAddress',
    '--rate-address <number>',
    'requests a second from one address; 0 is any',
    0,
    1_000_000,
  ),
  concurrency: limit(
    'concurrencyPerCredential',
    '--concurrency <number>',
    'requests of one credential at once',
    1,
    1_000_000,
  ),
  sockets: limit('sockets', '--sockets <number>', 'connections at once', 1, 1_000_000),
  socketsPerAddress: limit(
    'socketsPerAddress',
    '--sockets-per-address <number>',
    'connections at once from one address',
    1,
    1_000_000,
  ),
  streams: limit('streams', '--streams <number>', 'event streams at once', 0, 1_000_000),
  streamsPerCredential: limit(
    'streamsPerCredential',
    '--streams-per-credential <number>',
    'event streams of one credential at once',
    0,
    1_000_000,
  ),
  requestBytes: limit(
    'requestBytes',
    '--request-bytes <number>',
    'bytes of a body',
    1024,
    LIMITS.requestBytes,
  ),
  queryTimeout: limit(
    'queryTimeoutDefaultMs',
    '--query-timeout <ms>',
    'time of a query that asks for none',
    1,
    LIMITS.queryTimeoutMaxMs,
  ),
  queryTimeoutMax: limit(
    'queryTimeoutMaxMs',
    '--query-timeout-max <ms>',
    'most time that a query may ask for',
    1,
    LIMITS.queryTimeoutMaxMs,
  ),
  passwordThreads: limit(
    'passwordThreads',
    '--password-threads <number>',
    'threads that hash passwords',
    1,
    64,
  ),
} as const satisfies Readonly<Record<string, SettingRow>>;

export type SettingName = keyof typeof SETTINGS;

/** What a table of rows gives when it is read. */
export type SettingValues = {
  readonly [name in SettingName]?: (typeof SETTINGS)[name] extends SettingRow<infer T> ? T : never;
};

/** `tlsCert` is `BURROW_TLS_CERT`. */
export const variableOf = (name: SettingName): string =>
  `BURROW_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
