/** What all panels work with. */
import type { Client, Database } from '../src/index.ts';
import type { Diagnostics, DiagnosticsCall } from '../src/host/diagnostics.ts';
import { hideSecretTexts } from './hide-secrets.ts';
import type { SchemaInfo } from './schema.ts';

export interface Context {
  readonly db: Database;
  /** With the root secret: may read everything. */
  readonly root: Client;
  /** What the app gave: `undefined`, if it gave none. */
  readonly app: Runner | undefined;
  schema(): Promise<SchemaInfo>;
  ask(call: DiagnosticsCall): Promise<Diagnostics>;
  /** Opens the shell with a text in it. */
  openShell(text: string): void;
  /** Announces a message to users of a screen reader. */
  say(message: string): void;
}

export interface Panel {
  readonly id: string;
  readonly label: string;
  readonly node: HTMLElement;
  /** It is shown from now on. */
  show?(): Promise<void> | void;
  /** What the worker reports while it is shown. */
  draw?(diagnostics: Diagnostics): void;
}

/** What the shell runs queries with. */
export type Runner = Pick<Client, 'queryWithMetrics'>;

/** What went wrong, in one sentence: without secrets, which an error may quote from its query. */
export const problemOf = (error: unknown): string =>
  hideSecretTexts(error instanceof Error ? error.message : String(error));
