/** What the commands of `burrow` share: host, options and reports. */
import { existsSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { OperationFault } from '../operations/operation-fault.ts';
import { baseUrl, SettingsFault, type Parse } from '../settings/option-values.ts';

export interface ProgramHost {
  /** Prints a line for the operator. */
  readonly say: (sentence: string) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Registers how to stop: `stop` runs at a signal, and also when `lost` resolves, after which the exit code is that of a failure. */
  readonly onStop: (stop: () => Promise<void>, lost: Promise<string>) => void;
}

export type Flags = Readonly<Record<string, unknown>>;

/** Only for options without secrets, because commander quotes an invalid value. */
export const argParser =
  <T>(parse: Parse<T>) =>
  (text: string): T => {
    try {
      return parse(text);
    } catch (reason) {
      throw reason instanceof SettingsFault ? new InvalidArgumentError(reason.message) : reason;
    }
  };

/** An empty environment variable counts as not set, as for settings. Commander would take it for a value. */
export const orVariable = (option: Option, name: string): Option =>
  process.env[name] === '' ? option : option.env(name);

export const urlOption = (): Option =>
  orVariable(new Option('--url <url>', 'URL of a running hub'), 'BURROW_URL')
    .argParser(argParser(baseUrl))
    .default('http://127.0.0.1:8443');

export const secretOption = (): Option =>
  orVariable(
    new Option('--secret <secret>', 'admin key of the database'),
    'BURROW_SECRET',
  ).makeOptionMandatory();

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** @throws OperationFault */
export function requireFile(file: string): void {
  if (!existsSync(file)) throw new OperationFault(`There is no file ${file}.`);
}

const PROGRESS_MS = 1000;

/** Returns a function that reports at most once a second. */
export function progress(
  { say }: ProgramHost,
  done: string,
  what = 'rows',
): (count: number) => void {
  let reportedMs = performance.now();
  return (count) => {
    if (performance.now() - reportedMs < PROGRESS_MS) return;
    reportedMs = performance.now();
    say(`${count} ${what} ${done}.`);
  };
}
