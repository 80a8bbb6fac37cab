/** Writes of a copy and their verdicts, in the form that an app gets. */
import type { JudgedData, WriteData as SentWrite } from '../../host/sync.ts';
import type { PendingState, WriteState } from '../../states.ts';
import { queryError, type QueryError, type WireError } from '../errors.ts';
import { decodeWire } from '../queries/decode.ts';

/** A value that JSON can hold. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [name: string]: Json | undefined };

/**
 * Types that an app declares for its own data. `writeData` is the `data` that the app stores with its writes. Writes are kept on devices
 * until they have a verdict, so the type includes what earlier versions of the app stored; writes of `adopt()` have `{ adopted, ts }`.
 * @example
 * declare module 'burrowdb' {
 *   interface AppTypes {
 *     writeData: { noteId: string };
 *   }
 * }
 */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type -- apps add the members
export interface AppTypes {}

/** What an app may store with a write: anything that JSON can hold, or what it declares in `AppTypes`. */
export type WriteData = AppTypes extends { writeData: infer T } ? T | undefined : unknown;
/** What `WriteData` is when it is read again. */
export type StoredWriteData = AppTypes extends { writeData: infer T } ? T : Json;

interface Judged {
  readonly id: string;
  /** Time by the hub's clock, µs: when the transaction was committed, or the write was refused. */
  readonly ts: number;
}

/** The hub has executed the write. */
export interface MadeVerdict<T = unknown> extends Judged {
  /** `amended`: the result or the effects differ from those shown on this device before. */
  readonly state: 'confirmed' | 'amended';
  /** Result of the write at the hub; undefined when it was too long to be kept. */
  readonly value: T | undefined;
}

/** The write failed at the hub and changed nothing. */
export interface RefusedVerdict extends Judged {
  readonly state: 'refused';
  readonly error: QueryError;
}

/** The outcome of a write, as `state` tells. */
export type Verdict<T = unknown> = MadeVerdict<T> | RefusedVerdict;

interface Made {
  /** When the write was made on this device. */
  readonly at: Date;
  /** Wire JSON. */
  readonly query: string;
  /** `refused`: the write fails on the data that has arrived from the hub, so the hub will probably refuse it. */
  readonly predicted: 'refused' | undefined;
  /** Id of the refused write that this write replaces. */
  readonly replaces: string | undefined;
  /** The label and data that were passed to `submit()`. */
  readonly label: string | undefined;
  readonly data: StoredWriteData | undefined;
}

/** A write without a verdict. */
export interface PendingWrite extends Made {
  readonly id: string;
  readonly state: PendingState;
}

/** A write with its verdict. */
export type JudgedWrite = Made & Verdict;

/** A write of this device: its other members depend on `state`. */
export type Write = PendingWrite | JudgedWrite;

/** A write in one of these states. */
export type WriteIn<State extends WriteState> = Write & { readonly state: State };

export async function writeOf(data: SentWrite): Promise<Write> {
  if ('ts' in data) return judgedWriteOf(data);
  const { id, state, predicted } = data;
  return { ...madeOf(data), id, state, predicted };
}

export const judgedWriteOf = async (data: JudgedData): Promise<JudgedWrite> => ({
  ...madeOf(data),
  predicted: undefined,
  ...(await verdictOf(data)),
});

const madeOf = ({ madeMicros, query, replaces, note }: SentWrite) => ({
  at: new Date(madeMicros / 1000),
  query,
  replaces,
  label: note?.label,
  data: (note?.data && JSON.parse(note.data)) as StoredWriteData | undefined,
});

const TOO_LONG: WireError = {
  code: 'unknown_error',
  description: 'The reason was too long to be kept.',
};

async function verdictOf({ id, state, ts, body }: JudgedData): Promise<Verdict> {
  const { resource, errors = [TOO_LONG] } = (await decodeWire(body ?? '{}')) as {
    readonly resource?: unknown;
    readonly errors?: readonly WireError[];
  };
  return state === 'refused'
    ? { id, ts, state, error: queryError(errors) }
    : { id, ts, state, value: resource };
}
