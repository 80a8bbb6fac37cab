/** What all panels share. */
import type { Client, Database } from '../src/index.ts';
import type { Diagnostics, DiagnosticsCall } from '../src/host/diagnostics.ts';
import { hideSecretTexts } from './hide-secrets.ts';
import type { SchemaInfo } from './schema.ts';

export interface Context {
  readonly db: Database;
  /** A client with the root secret, which may read everything. */
  readonly root: Client;
  /** The client that the app passed; undefined if it passed none. */
  readonly app: Runner | undefined;
  schema(): Promise<SchemaInfo>;
  ask(call: DiagnosticsCall): Promise<Diagnostics>;
  /** Opens the shell with this text. */
  openShell(text: string): void;
  /** Announces a message to users of a screen reader. */
  say(message: string): void;
}

export interface Panel {
  readonly id: string;
  readonly label: string;
  readonly node: HTMLElement;
  /** Called whenever the panel becomes visible. */
  show?(): Promise<void> | void;
  /** Draws the worker's reports, at each poll. */
  draw?(diagnostics: Diagnostics): void;
}

/** The part of a client that the shell runs queries with. */
export type Runner = Pick<Client, 'queryWithMetrics'>;

/** Describes an error in one sentence, without secrets, which an error may quote from its query. */
export const problemOf = (error: unknown): string =>
  hideSecretTexts(error instanceof Error ? error.message : String(error));
