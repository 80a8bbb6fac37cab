/** Writes of a copy, and what became of them, as an app sees them. */
import type { JudgedData, WriteData } from '../../host/sync.ts';
import type { PendingState, WriteState } from '../../states.ts';
import { queryError, type QueryError, type WireError } from '../errors.ts';
import { decodeWire } from '../queries/decode.ts';

interface Judged {
  readonly id: string;
  /** The hub's time, µs: that of the transaction, or when it was refused. */
  readonly tsMicros: number;
}

/** The hub has made the write. */
export interface MadeVerdict<T = unknown> extends Judged {
  /** `amended`: with another result or other effects than were shown here. */
  readonly state: 'confirmed' | 'amended';
  /** What it answered at the hub; undefined when that was too long to be kept. */
  readonly value: T | undefined;
}

/** The write failed at the hub, and changed nothing. */
export interface RefusedVerdict extends Judged {
  readonly state: 'refused';
  readonly error: QueryError;
}

/** The outcome of a write: `state` says which. */
export type Verdict<T = unknown> = MadeVerdict<T> | RefusedVerdict;

interface Made {
  /** When it was made here. */
  readonly at: Date;
  /** Wire JSON. */
  readonly query: string;
  /** Over what has come from the hub it fails: it will probably be refused. */
  readonly predicted: 'refused' | undefined;
  /** The id of the refused write in whose place it was made. */
  readonly replaces: string | undefined;
  /** What `submit()` was given with it. */
  readonly label: string | undefined;
  readonly data: unknown;
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

export async function writeOf(data: WriteData): Promise<Write> {
  if ('tsMicros' in data) return judgedWriteOf(data);
  const { id, state, predicted } = data;
  return { ...madeOf(data), id, state, predicted };
}

export const judgedWriteOf = async (data: JudgedData): Promise<JudgedWrite> => ({
  ...madeOf(data),
  predicted: undefined,
  ...(await verdictOf(data)),
});

const madeOf = ({ madeMicros, query, replaces, note }: WriteData) => ({
  at: new Date(madeMicros / 1000),
  query,
  replaces,
  label: note?.label,
  data: note?.data && (JSON.parse(note.data) as unknown),
});

const TOO_LONG: WireError = {
  code: 'unknown_error',
  description: 'The reason was too long to be kept.',
};

async function verdictOf({ id, state, tsMicros, body }: JudgedData): Promise<Verdict> {
  const { resource, errors = [TOO_LONG] } = (await decodeWire(body ?? '{}')) as {
    readonly resource?: unknown;
    readonly errors?: readonly WireError[];
  };
  return state === 'refused'
    ? { id, tsMicros, state, error: queryError(errors) }
    : { id, tsMicros, state, value: resource };
}
