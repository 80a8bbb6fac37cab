/** Settings from flags, environment and file: the first that says something counts. */
import { readFileSync } from 'node:fs';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { DEFAULT_LIMITS, type HubLimits, type HubSettings } from './settings.ts';
import {
  SETTINGS,
  variableOf,
  type SettingName,
  type SettingRow,
  type SettingValues,
} from './settings-table.ts';

/** Something the operator wrote cannot be used: the message says what and where. */
export class SettingsFault extends Error {}

const ROWS = Object.entries(SETTINGS) as readonly (readonly [SettingName, SettingRow])[];

export function addSettings(command: Command, names?: readonly SettingName[]): Command {
  for (const [name, row] of ROWS) {
    if (names && !names.includes(name)) continue;
    const standard = row.standard ? ` (default: ${row.standard})` : '';
    const option = new Option(row.flag, `${row.help}${standard} [${variableOf(name)}]`);
    command.addOption(option.argParser(row.parse));
  }
  return command.option(
    '--config <file>',
    'JSON file with settings by the names of their flags in camelCase [BURROW_CONFIG]',
  );
}

/** @throws SettingsFault */
export function readSettings(
  flags: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string | undefined>>,
): HubSettings {
  const path = typeof flags['config'] === 'string' ? flags['config'] : environment['BURROW_CONFIG'];
  const file = path === undefined ? {} : readFile(path);
  const values: Record<string, unknown> = {};
  for (const [name, row] of ROWS) {
    values[name] = valueOf(name, row, { flags, environment, file, path });
  }
  return settingsOf(values);
}

interface Sources {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly file: Readonly<Record<string, unknown>>;
  readonly path: string | undefined;
}

function valueOf(
  name: SettingName,
  row: SettingRow,
  { flags, environment, file, path }: Sources,
): unknown {
  if (flags[name] !== undefined) return flags[name];
  const variable = variableOf(name);
  const text = environment[variable];
  if (text !== undefined && text !== '') return parsed(row, text, variable);
  const value = file[name];
  if (value !== undefined) return parsed(row, asText(value), `'${name}' in ${path}`);
  return row.standard === undefined ? undefined : row.parse(row.standard);
}

function parsed(row: SettingRow, text: string, where: string): unknown {
  try {
    return row.parse(text);
  } catch (reason) {
    if (!(reason instanceof InvalidArgumentError)) throw reason;
    throw new SettingsFault(`${where} cannot be used. ${reason.message}`);
  }
}

const asText = (value: unknown): string =>
  Array.isArray(value) ? value.join(',') : typeof value === 'string' ? value : String(value);

function readFile(path: string): Readonly<Record<string, unknown>> {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (reason) {
    const why = reason instanceof Error ? reason.message : String(reason);
    throw new SettingsFault(`The configuration file ${path} cannot be read as JSON: ${why}`);
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new SettingsFault(`The configuration file ${path} must hold a JSON object.`);
  const unknown = Object.keys(json).filter((name) => !(name in SETTINGS));
  if (unknown.length > 0)
    throw new SettingsFault(
      `The configuration file ${path} names settings that are not: ${unknown.join(', ')}. There are: ${Object.keys(SETTINGS).join(', ')}.`,
    );
  return json as Readonly<Record<string, unknown>>;
}

function settingsOf(values: SettingValues): HubSettings {
  const required = <T>(value: T | undefined, name: SettingName): T => {
    if (value === undefined) throw new SettingsFault(`${name} is not set.`);
    return value;
  };
  const { tlsCert, tlsKey } = values;
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new SettingsFault('TLS needs both --tls-cert and --tls-key.');
  const limits = limitsOf(values);
  if (limits.queryTimeoutDefaultMs > limits.queryTimeoutMaxMs)
    throw new SettingsFault('--query-timeout is greater than --query-timeout-max.');
  return {
    host: required(values.host, 'host'),
    port: required(values.port, 'port'),
    data: required(values.data, 'data'),
    postgres: values.postgres,
    rootSecret: values.rootSecret,
    regionGroup: required(values.regionGroup, 'regionGroup'),
    tls: tlsCert !== undefined && tlsKey !== undefined ? { cert: tlsCert, key: tlsKey } : undefined,
    corsOrigins: values.cors ?? [],
    allowedHosts: values.allowHost ?? [],
    trustedProxies: values.trustProxy ?? [],
    publicUrl: values.publicUrl,
    metrics: required(values.metrics, 'metrics'),
    hashCost: required(values.hashCost, 'hashCost'),
    queryLog: {
      enabled: required(values.queryLog, 'queryLog'),
      retentionDays: required(values.logDays, 'logDays'),
      maxBytes: required(values.logBytes, 'logBytes'),
    },
    logLevel: required(values.logLevel, 'logLevel'),
    limits,
  };
}

const limitsOf = (values: SettingValues): HubLimits => {
  const given: Partial<Record<keyof HubLimits, number | undefined>> = {
    ratePerToken: values.rate,
    ratePerAddress: values.rateAddress,
    concurrencyPerCredential: values.concurrency,
    sockets: values.sockets,
    socketsPerAddress: values.socketsPerAddress,
    streams: values.streams,
    streamsPerCredential: values.streamsPerCredential,
    requestBytes: values.requestBytes,
    queryTimeoutDefaultMs: values.queryTimeout,
    queryTimeoutMaxMs: values.queryTimeoutMax,
    passwordThreads: values.passwordThreads,
  };
  const known = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...DEFAULT_LIMITS, ...(Object.fromEntries(known) as Partial<HubLimits>) };
};
