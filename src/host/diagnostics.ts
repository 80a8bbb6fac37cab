/**
 * What the worker reports to the inspector. The reports go over HTTP, so that the page needs no code for them. Only the root secret may
 * read.
 */
import type { QueryMetrics } from '../answers.ts';
import type { SyncState } from '../states.ts';
import type { SetError, WriteChoice, WriteData } from './sync.ts';

export const DIAGNOSTICS_PATH = '/burrow/diagnostics';

/** Tag of the inspector's own queries, which are not reported. */
export const INSPECTOR_TAG = 'burrow_inspector';

/** Body of the request, as JSON. */
export interface DiagnosticsCall {
  /** Number of the last query that the inspector has received. */
  readonly after?: number;
  /** False: the inspector is closed, and nothing is recorded. */
  readonly watch?: boolean;
  /** A refused write to be resolved before the report is made. */
  readonly resolve?: { readonly id: string; readonly choice: WriteChoice };
}

/** How much of a collection or an index a query read. */
export interface ReadCount {
  /** Name of the collection or index; undefined if it was deleted since, or belongs to another database. */
  readonly name: string | undefined;
  /** Number of documents of a collection, or of ranges of index entries. */
  readonly count: number;
}

export interface QueryReads {
  readonly collections: readonly ReadCount[];
  readonly indexes: readonly ReadCount[];
  /** Number of index entries and documents that sets read. */
  readonly entries: number;
}

export interface QueryRecord {
  readonly number: number;
  readonly tsMicros: number;
  /** Wire JSON, without passwords and secrets; undefined if the text is not recorded. */
  readonly query: string | undefined;
  readonly status: number;
  readonly errorCode: string | undefined;
  /** Position of the error in the query; undefined if it is not known. */
  readonly errorPosition: readonly (string | number)[] | undefined;
  /** The identity that sent the query: `root`, `key 1234`. */
  readonly actor: string | undefined;
  readonly metrics: QueryMetrics;
  /** Undefined for a query from the query log, which ran before the inspector was opened. */
  readonly reads: QueryReads | undefined;
}

export interface LiveRecord {
  readonly id: number;
  readonly query: string | undefined;
  readonly actor: string | undefined;
  /** `runs`: how often the query ran. `told`: how often its answer had changed. */
  readonly runs: number;
  readonly told: number;
  /** Duration of the last run, ms; undefined before the first run. */
  readonly tookMs: number | undefined;
  readonly reads: Omit<QueryReads, 'entries'>;
}

export interface SetRecord {
  /** Wire JSON. */
  readonly query: string;
  readonly rows: number;
  readonly of: number | undefined;
  /** If the state is `refused`, `error` says why. */
  readonly loaded: 'nothing' | 'part' | 'all' | 'refused';
  readonly error: SetError | undefined;
}

export interface SyncRecord {
  readonly state: SyncState;
  readonly reason: string | undefined;
  readonly hub: string;
  /** Time of the last commit of the hub that the copy has received, µs; undefined if it has received nothing yet. */
  readonly cursorMicros: number | undefined;
  readonly hasSchema: boolean;
  readonly sets: readonly SetRecord[];
  /** Number of writes without a verdict; `pendingSize` is the number of their characters. */
  readonly pending: number;
  readonly pendingSize: number;
  /** The hub's clock minus this device's clock, µs. */
  readonly skewMicros: number;
  readonly writes: readonly WriteData[];
}

export interface Diagnostics {
  /** Number of the last recorded query. */
  readonly last: number;
  /** Number of records that were dropped before the inspector asked for them. */
  readonly dropped: number;
  /** Whether the query log is on, by the options of the database. */
  readonly isLogged: boolean;
  readonly queries: readonly QueryRecord[];
  readonly live: readonly LiveRecord[];
  /** Undefined if this database is not a copy of a hub's database. */
  readonly sync: SyncRecord | undefined;
}
