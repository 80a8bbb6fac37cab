/** Reads settings. Precedence: flag, environment variable, configuration file, default. */
import { readFileSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { messageOf } from '../../hosts/node-errors.ts';
import { HUB_LIMITS } from '../../src/limits.ts';
import { isNearly } from '../../src/values/similar-names.ts';
import { SettingsFault, TENANT_DEFAULT, type Parse } from './option-values.ts';
import type { HubSettings } from './settings.ts';
import {
  memberOf,
  SETTINGS,
  settingValues,
  variableOf,
  type Setting,
  type SettingName,
} from './settings-table.ts';

type Texts = Readonly<Record<string, string | undefined>>;
type Members = Readonly<Record<string, unknown>>;

/** Adds all settings, or the named ones, as options. Commander does not parse their values: `readSettings()` does, for all sources. */
export function addSettings(command: Command, names?: readonly SettingName[]): Command {
  const rows: readonly Setting[] = names?.map((name) => SETTINGS[name]) ?? Object.values(SETTINGS);
  for (const row of rows) {
    const shown = row.shownDefault === '' ? '' : ` (default: ${row.shownDefault})`;
    command.addOption(new Option(row.flag, `${row.help}${shown} [${variableOf(row)}]`));
  }
  return command.option(
    '--config <file>',
    'JSON file of settings, named like their flags in camelCase [BURROW_CONFIG]',
  );
}

/** @throws SettingsFault */
export function readSettings(flags: Members, environment: Texts): HubSettings {
  requireSpelt(environment);
  const path = textOf(flags['config']) ?? (environment['BURROW_CONFIG'] || undefined);
  const file = path === undefined ? {} : readFile(path);
  const values = settingValues((setting) => {
    const [member, variable] = [memberOf(setting), variableOf(setting)];
    const flag = textOf(flags[member]);
    if (flag !== undefined) return parsed(setting.parse, flag, setting.flag);
    const text = environment[variable];
    const isGiven = text !== undefined && text !== '' && !IS_OF_SERVICE.test(text);
    if (isGiven) return parsed(setting.parse, text, variable);
    const inFile = textOf(file[member]);
    if (inFile !== undefined) return parsed(setting.parse, inFile, `'${member}' in ${path}`);
    return setting.defaultValue;
  });
  // It is unclear which one is meant. The wrong guess would load a backup into a production server, or start an empty hub in a folder.
  if (values.postgres !== undefined && flags['data'] !== undefined && !flags['postgres'])
    throw new SettingsFault(
      '--data is given, but BURROW_POSTGRES or the configuration file names a PostgreSQL server: leave one of them out.',
    );
  return checked({ ...HUB_LIMITS, ...values });
}

/**
 * In a container next to a service named burrow, Kubernetes sets `BURROW_PORT` to a value like `tcp://10.0.0.1:8443`: it is
 * ignored.
 */
const IS_OF_SERVICE = /^tcp:\/\//;

/** Variables that are not settings: used by other commands, or before the settings are read. */
const OTHER_VARIABLES = ['BURROW_CONFIG', 'BURROW_URL', 'BURROW_SECRET'];

/**
 * Refuses misspelt variables: the setting would silently keep its default, such as another data folder or no limit. Variables
 * that do not resemble a setting are ignored, because they may belong to other programs.
 */
function requireSpelt(environment: Texts): void {
  const known = [...Object.values(SETTINGS).map(variableOf), ...OTHER_VARIABLES];
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('BURROW_') || known.includes(name)) continue;
    const meant = known.find((each) => isNearly(name, each));
    if (meant !== undefined)
      throw new SettingsFault(`There is no variable ${name}. Did you mean ${meant}?`);
  }
}

/** In a file, values may also be numbers, lists and booleans. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  return Array.isArray(value) ? value.join(',') : JSON.stringify(value);
}

export function parsed<T>(parse: Parse<T>, text: string, where: string): T {
  try {
    return parse(text);
  } catch (reason) {
    if (!(reason instanceof SettingsFault)) throw reason;
    throw new SettingsFault(`Invalid ${where}: ${reason.message}.`);
  }
}

function readFile(path: string): Members {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (reason) {
    throw new SettingsFault(
      `Cannot read the configuration file ${path} as JSON: ${messageOf(reason).replace(QUOTED, '')}`,
    );
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new SettingsFault(`The configuration file ${path} must hold a JSON object.`);
  const known = Object.values(SETTINGS).map(memberOf);
  const unknown = Object.keys(json).filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new SettingsFault(
      `The configuration file ${path} has unknown settings: ${unknown.join(', ')}. Known settings: ${known.join(', ')}.`,
    );
  for (const [name, value] of Object.entries(json))
    if (typeof value === 'object' && !Array.isArray(value))
      throw new SettingsFault(
        `Invalid '${name}' in ${path}: expected text, a number, a truth value or a list.`,
      );
  return { ...json };
}

/** Excerpts of the file in messages of the JSON parser: removed because they may contain a secret. */
const QUOTED = /(?:^|, )(?:\.\.\.)?".*/s;

/** Checks that involve more than one setting. */
function checked(settings: HubSettings): HubSettings {
  if ((settings.tlsCert === undefined) !== (settings.tlsKey === undefined))
    throw new SettingsFault('TLS needs both --tls-cert and --tls-key.');
  if (settings.postgres === undefined && settings.tenant !== TENANT_DEFAULT)
    throw new SettingsFault('--tenant needs --postgres: a folder holds the data of one hub.');
  if (settings.queryTimeoutDefaultMs > settings.queryTimeoutMaxMs)
    throw new SettingsFault('--query-timeout must not be greater than --query-timeout-max.');
  return settings;
}
