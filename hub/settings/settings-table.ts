/**
 * All settings of a hub. A row here defines a setting completely: type, flag, environment variable, member of the configuration
 * file, help and docs are derived from it.
 */
import { availableParallelism } from 'node:os';
import { LIMITS, SYNC_LIMITS } from '../../src/limits.ts';
import { LOG_DEFAULTS } from '../../src/logs/query-log.ts';
import {
  addresses,
  anyText,
  baseUrl,
  folder,
  folderOrBucket,
  hostNames,
  hostToListenOn,
  integer,
  oneOf,
  onOff,
  origins,
  postgresUrl,
  rootSecret,
  TENANT_DEFAULT,
  tenantName,
  type Parse,
} from './option-values.ts';

export interface Setting<T = unknown> {
  /** The flag in commander's syntax. The names in the environment and in the configuration file are derived from it. */
  readonly flag: string;
  readonly help: string;
  readonly parse: Parse<T>;
  readonly defaultValue: T;
  /** The default as shown in help and docs. */
  readonly shownDefault: string;
}

const required = <T>(
  flag: string,
  help: string,
  parse: Parse<T>,
  defaultValue: T,
  shownDefault = String(defaultValue),
): Setting<T> => ({ flag, help, parse, defaultValue, shownDefault });

const optional = <T>(flag: string, help: string, parse: Parse<T>): Setting<T | undefined> =>
  required<T | undefined>(flag, help, parse, undefined, '');

/** A limit on what the hub accepts from the network. */
const bound = (
  flag: string,
  help: string,
  defaultValue: number,
  { min = 1, max = 1_000_000 }: { readonly min?: number; readonly max?: number } = {},
): Setting<number> => required(flag, help, integer(min, max), defaultValue);

const TERABYTE = 2 ** 40;
const PASSWORD_THREADS_MAX = 4;
const QUERY_THREADS_MAX = 4;

/** Leaves one core to the main thread. */
const threadsBeside = (max: number): number =>
  Math.max(1, Math.min(max, availableParallelism() - 1));

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const NO_TEXTS: readonly string[] = [];

export const SETTINGS = {
  host: required('--host <address>', 'address to listen on', hostToListenOn, '127.0.0.1'),
  port: required(
    '--port <number>',
    'port to listen on; 0 picks a free one',
    integer(0, 65_535),
    8443,
  ),
  data: required(
    '--data <folder>',
    'folder of the embedded PGlite; memory: for data that are lost when the hub stops',
    folder,
    './burrow-data',
  ),
  postgres: optional('--postgres <url>', 'PostgreSQL to use instead of the folder', postgresUrl),
  tenant: required(
    '--tenant <name>',
    'which of the hubs that share the PostgreSQL database this is; each has data of its own',
    tenantName,
    TENANT_DEFAULT,
  ),
  files: optional(
    '--files <where>',
    'folder, or URL of an S3 bucket, for files that documents refer to; in the folder of the data if it is left out',
    folderOrBucket,
  ),
  fileBytes: bound('--file-bytes <number>', 'largest file in bytes', 100 * 1024 * 1024, {
    max: SYNC_LIMITS.fileBytes,
  }),
  rootSecret: optional(
    '--root-secret <secret>',
    'replaces the stored root secret; generated and printed on first start if none is given',
    rootSecret,
  ),
  regionGroup: required(
    '--region-group <name>',
    'region group shown in query logs and log exports',
    anyText,
    'local',
  ),
  tlsCert: optional('--tls-cert <file>', 'certificate chain, PEM', anyText),
  tlsKey: optional('--tls-key <file>', 'private key, PEM', anyText),
  corsOrigins: required(
    '--cors <origins>',
    'origins whose pages may send requests, comma-separated; * allows any but null',
    origins,
    NO_TEXTS,
  ),
  allowedHosts: required(
    '--allow-host <names>',
    'further Host headers that a hub on loopback accepts, comma-separated',
    hostNames,
    NO_TEXTS,
  ),
  /** Connections from these proxies are not counted per address. */
  trustedProxies: required(
    '--trust-proxy <addresses>',
    'proxies whose X-Forwarded-For header is trusted, comma-separated',
    addresses,
    NO_TEXTS,
  ),
  publicUrl: optional(
    '--public-url <url>',
    'URL at which callers reach this hub, if it is not where it listens; URLs of exported logs start with it, and tokens of identity providers name it as their audience',
    baseUrl,
  ),
  metrics: required(
    '--metrics <who>',
    'who may read /metrics: admin (keys of the root database) or open (anyone)',
    oneOf('admin', 'open'),
    'admin',
  ),
  ownDocument: required(
    '--own-document <rule>',
    'who may read the document of a token: readable (the token itself) or by-role (only whom a role lets)',
    oneOf('readable', 'by-role'),
    'readable',
  ),
  hashCost: required(
    '--hash-cost <number>',
    'bcrypt cost of new password hashes',
    integer(LIMITS.hashCostNewMin, LIMITS.hashCostMax),
    LIMITS.hashCostDefault,
  ),
  queryLog: required('--query-log <on|off>', 'record queries for log exports', onOff, true, 'on'),
  queryLogDays: required(
    '--log-days <number>',
    'days that query records are kept',
    integer(1, 36_500),
    LOG_DEFAULTS.retentionDays,
  ),
  queryLogBytes: required(
    '--log-bytes <number>',
    'bytes of query records that are kept',
    integer(1024, TERABYTE),
    LOG_DEFAULTS.maxBytes,
  ),
  logLevel: required('--log-level <level>', LOG_LEVELS.join(', '), oneOf(...LOG_LEVELS), 'info'),
  ratePerToken: bound('--rate <number>', 'queries per second and token; 0 means no limit', 50, {
    min: 0,
  }),
  ratePerAddress: bound(
    '--rate-address <number>',
    'requests per second and address; 0 means no limit',
    1_000,
    { min: 0 },
  ),
  concurrencyPerCredential: bound(
    '--concurrency <number>',
    'requests of one credential that run at once; 400 more wait',
    100,
  ),
  sockets: bound('--sockets <number>', 'open connections', 4_000),
  socketsPerAddress: bound('--sockets-per-address <number>', 'open connections per address', 128),
  streams: bound('--streams <number>', 'open event streams', 10_000, { min: 0 }),
  streamsPerCredential: bound(
    '--streams-per-credential <number>',
    'open event streams per credential',
    250,
    { min: 0 },
  ),
  /** Applies to the body as sent and after decompression. */
  requestBytes: bound(
    '--request-bytes <number>',
    'largest request body in bytes',
    LIMITS.requestBytes,
    { min: 1024, max: LIMITS.requestBytes },
  ),
  queryTimeoutDefaultMs: bound('--query-timeout <ms>', 'timeout of a query that sets none', 5_000, {
    max: LIMITS.queryTimeoutMaxMs,
  }),
  queryTimeoutMaxMs: bound(
    '--query-timeout-max <ms>',
    'longest timeout that a query may set',
    30_000,
    { max: LIMITS.queryTimeoutMaxMs },
  ),
  passwordThreads: required(
    '--password-threads <number>',
    'threads that hash passwords',
    integer(1, 64),
    threadsBeside(PASSWORD_THREADS_MAX),
    `one less than there are cores, at most ${PASSWORD_THREADS_MAX}`,
  ),
  queryThreads: required(
    '--query-threads <number>',
    'threads that execute queries which take long; 0: they hold up all others',
    integer(0, 64),
    threadsBeside(QUERY_THREADS_MAX),
    `one less than there are cores, at most ${QUERY_THREADS_MAX}`,
  ),
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof SETTINGS;

export type SettingValues = {
  readonly [name in SettingName]: (typeof SETTINGS)[name]['defaultValue'];
};

/** Computes the value of each setting. The only cast: TypeScript cannot relate the rows of a loop to their types. */
export function settingValues(valueOf: <T>(setting: Setting<T>) => T): SettingValues {
  const values = Object.entries<Setting>(SETTINGS).map(([name, row]) => [name, valueOf(row)]);
  return Object.fromEntries(values) as SettingValues;
}

const longFlagOf = ({ flag }: Setting): string => /^--([a-z-]+)/.exec(flag)?.[1] ?? flag;

/** `--tls-cert` is `BURROW_TLS_CERT`. */
export const variableOf = (setting: Setting): string =>
  `BURROW_${longFlagOf(setting).replaceAll('-', '_').toUpperCase()}`;

/** `--tls-cert` is `tlsCert` in a configuration file and among commander's options. */
export const memberOf = (setting: Setting): string =>
  longFlagOf(setting).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
