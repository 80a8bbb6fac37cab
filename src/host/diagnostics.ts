/** What the worker reports to the inspector: by HTTP, so that the page has no code for it. Only the root secret may ask. */
import type { QueryMetrics } from '../answers.ts';
import type { SyncState } from '../states.ts';
import type { SetError, WriteChoice, WriteData } from './sync.ts';

export const DIAGNOSTICS_PATH = '/burrow/diagnostics';

/** Tag of the inspector's own queries: they are not reported to it. */
export const INSPECTOR_TAG = 'burrow_inspector';

/** Body of the request, as JSON. */
export interface DiagnosticsCall {
  /** Queries up to this number are known. */
  readonly after?: number;
  /** False: the inspector is closed, nothing is recorded. */
  readonly watch?: boolean;
  /** Done before the report is made: what to do about a refused write. */
  readonly resolve?: { readonly id: string; readonly choice: WriteChoice };
}

/** What of a collection or an index a query read. */
export interface ReadCount {
  /** Its name; undefined: it is gone by now, or of another database. */
  readonly name: string | undefined;
  /** Documents of a collection; ranges of entries of an index. */
  readonly count: number;
}

export interface QueryReads {
  readonly collections: readonly ReadCount[];
  readonly indexes: readonly ReadCount[];
  /** Index entries and documents that sets went through. */
  readonly entries: number;
}

export interface QueryRecord {
  readonly number: number;
  readonly tsMicros: number;
  /** Wire JSON, without passwords and secrets; undefined: nothing of it is kept. */
  readonly query: string | undefined;
  readonly status: number;
  readonly errorCode: string | undefined;
  /** Where in the query; undefined: that is not known. */
  readonly errorPosition: readonly (string | number)[] | undefined;
  /** As whom: `root`, `key 1234`. */
  readonly actor: string | undefined;
  readonly metrics: QueryMetrics;
  /** Undefined: it ran before the inspector was opened, and is from the query log. */
  readonly reads: QueryReads | undefined;
}

export interface LiveRecord {
  readonly id: number;
  readonly query: string | undefined;
  readonly actor: string | undefined;
  /** How often it was run, and how often the answer was another one. */
  readonly runs: number;
  readonly told: number;
  /** Of the last run, ms; undefined: it has not run yet. */
  readonly tookMs: number | undefined;
  readonly reads: Omit<QueryReads, 'entries'>;
}

export interface SetRecord {
  /** Wire JSON. */
  readonly query: string;
  readonly rows: number;
  readonly of: number | undefined;
  /** `refused`: `error` says why. */
  readonly loaded: 'nothing' | 'part' | 'all' | 'refused';
  readonly error: SetError | undefined;
}

export interface SyncRecord {
  readonly state: SyncState;
  readonly reason: string | undefined;
  readonly hub: string;
  /** Up to which commit of the hub the copy has come, µs; undefined: nothing has come yet. */
  readonly cursorMicros: number | undefined;
  readonly hasSchema: boolean;
  readonly sets: readonly SetRecord[];
  /** Writes without a verdict, and their characters. */
  readonly pending: number;
  readonly pendingSize: number;
  /** The clock of the hub minus that of this device, µs. */
  readonly skewMicros: number;
  readonly writes: readonly WriteData[];
}

export interface Diagnostics {
  /** Of the last query recorded. */
  readonly last: number;
  /** Records that were dropped before they were asked for. */
  readonly dropped: number;
  /** Whether queries are recorded by the database itself too, as its options say. */
  readonly isLogged: boolean;
  readonly queries: readonly QueryRecord[];
  readonly live: readonly LiveRecord[];
  /** Undefined: this database is no copy of a hub's. */
  readonly sync: SyncRecord | undefined;
}
