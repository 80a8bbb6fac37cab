/** What a hub is told when it is started. */
import { availableParallelism } from 'node:os';
import { HUB_LIMITS, LIMITS } from '../../src/limits.ts';
import { LOG_DEFAULTS } from '../../src/logs/query-log.ts';

export type HubLimits = { readonly [name in keyof typeof HUB_LIMITS]: number } & {
  /** Of a body, as sent and as inflated. */
  readonly requestBytes: number;
};

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface HubSettings {
  readonly host: string;
  readonly port: number;
  /** A folder for PGlite, or `memory:`. */
  readonly data: string;
  readonly postgres: string | undefined;
  readonly rootSecret: string | undefined;
  readonly regionGroup: string;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** Origins of pages that may ask; `*` is any. */
  readonly corsOrigins: readonly string[];
  /** Names beside its own under which a hub on loopback may be called. */
  readonly allowedHosts: readonly string[];
  /** Addresses whose `X-Forwarded-For` is believed, and whose connections are not counted by address. */
  readonly trustedProxies: readonly string[];
  /** Where callers see it, when that is not where it listens. */
  readonly publicUrl: string | undefined;
  /** Whether `/metrics` is told to anybody, or to admin keys only. */
  readonly metrics: 'open' | 'admin';
  readonly hashCost: number;
  readonly queryLog: {
    readonly enabled: boolean;
    readonly retentionDays: number;
    readonly maxBytes: number;
  };
  readonly logLevel: LogLevel;
  readonly limits: HubLimits;
}

export const DEFAULT_LIMITS: HubLimits = {
  ...HUB_LIMITS,
  passwordThreads: Math.max(1, Math.min(HUB_LIMITS.passwordThreads, availableParallelism() - 1)),
  requestBytes: LIMITS.requestBytes,
};

export const DEFAULT_SETTINGS: HubSettings = {
  host: '127.0.0.1',
  port: 8443,
  data: './burrow-data',
  postgres: undefined,
  rootSecret: undefined,
  regionGroup: 'local',
  tls: undefined,
  corsOrigins: [],
  allowedHosts: [],
  trustedProxies: [],
  publicUrl: undefined,
  metrics: 'admin',
  hashCost: LIMITS.hashCostDefault,
  queryLog: { enabled: true, ...LOG_DEFAULTS },
  logLevel: 'info',
  limits: DEFAULT_LIMITS,
};
