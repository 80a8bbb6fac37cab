import {
  UsageError,
  type BurrowError,
  type Client,
  type Expr,
  type SyncClient,
  type Verdict,
  type WriteData,
} from '../../index.ts';
import { Cell } from './cell.ts';
import { requireKnown } from './require-known.ts';
import { notOpen, type SessionState } from './session.ts';

/**
 * State of the last run of a mutation.
 * - `running`: the write is not stored yet.
 * - `local`: the write is stored on this device; the hub has not judged it yet.
 * - `confirmed`, `amended`, `refused`: the hub's verdict. Without a hub, a stored write is confirmed.
 * - `failed`: the write failed on this device and changed nothing.
 */
export interface MutationState<T> {
  readonly state: 'idle' | 'running' | 'local' | 'confirmed' | 'amended' | 'refused' | 'failed';
  /** Result of the write on this device; for an amended write, its result at the hub. */
  readonly value: T | undefined;
  /** Why the write failed or was refused. */
  readonly error: BurrowError | undefined;
  /** Id of the write in `sync.writes`. */
  readonly id: string | undefined;
}

/** Notes that are stored with the write, for lists of writes: constant, or computed from the arguments of each run. */
export interface MutationOptions<Args extends readonly unknown[]> {
  /** What the write does, in words for the user. */
  readonly label?: string | ((...args: Args) => string);
  /** Anything that can be encoded as JSON. */
  readonly data?: (...args: Args) => WriteData;
}

export const UNUSED: MutationState<never> = {
  state: 'idle',
  value: undefined,
  error: undefined,
  id: undefined,
};

const OPTIONS = ['label', 'data'] satisfies (keyof MutationOptions<[]>)[];

export const isSynced = (client: Client): client is SyncClient => 'submit' in client;

export interface MutationUse<Args extends readonly unknown[], T> {
  readonly client: Client | undefined;
  readonly state?: SessionState['state'];
  /** Why there is no client; undefined if nobody has tried to log in. */
  readonly error?: BurrowError | undefined;
  readonly query: (...args: Args) => Expr<T>;
  readonly options: MutationOptions<Args>;
}

export class Mutation<T> extends Cell<MutationState<T>> {
  private readonly session: Cell<Pick<SessionState, 'client'>> | undefined;
  private runs = 0;
  /** The client of the last run. */
  private client: Client | undefined = undefined;
  private stop: (() => void) | undefined = undefined;

  /**
   * @param session whose users write: the state of one user's writes is not shown to the next user
   * @throws UsageError when the arguments are wrong
   */
  constructor(
    query: unknown,
    options: { readonly data?: unknown } = {},
    session?: Cell<Pick<SessionState, 'client'>>,
  ) {
    super(UNUSED);
    requireKnown(options, OPTIONS);
    if (typeof query !== 'function')
      throw new UsageError('useMutation() takes a function that returns the query.');
    if (typeof (options.data ?? query) !== 'function')
      throw new UsageError('The option `data` must be a function of the arguments.');
    this.session = session;
  }

  protected override onFirst(): void {
    const { session } = this;
    const forget = (): void => {
      if (this.get() !== UNUSED && session?.get().client !== this.client) this.reset();
    };
    this.stop = session?.subscribe(forget);
    if (session) forget();
  }

  protected override onLast(): void {
    this.stop?.();
  }

  /**
   * Resolves with the result on this device when the write is stored. A failed run is not reported as an unhandled rejection: callers that
   * do not await the promise read `error`.
   * @throws BurrowError when the write fails, or nobody has logged in
   */
  run<Args extends readonly unknown[]>(
    use: MutationUse<Args, T>,
    args: Args,
  ): Promise<T | undefined> {
    const done = this.write(use, args);
    done.catch(() => undefined);
    return done;
  }

  private async write<Args extends readonly unknown[]>(
    { client, state, error, query, options: { label, data } }: MutationUse<Args, T>,
    args: Args,
  ): Promise<T | undefined> {
    const run = ++this.runs;
    this.client = client;
    // If several runs overlap, the state of the one that started last is shown.
    const emit = (state: Partial<MutationState<T>>): void => {
      if (run === this.runs) this.set({ ...UNUSED, ...state });
    };
    emit({ state: 'running' });
    try {
      if (!client)
        throw error ?? (state === 'opening' ? notOpen() : new UsageError('Nobody has logged in.'));
      if (!isSynced(client)) {
        const value = await client.query(query(...args));
        emit({ state: 'confirmed', value });
        return value;
      }
      const said = typeof label === 'function' ? label(...args) : label;
      const { id, value, settled } = await client.submit(query(...args), {
        ...(said !== undefined && { label: said }),
        data: data?.(...args),
      });
      emit({ state: 'local', value, id });
      // If the database is closed, there is no verdict: the write waits in the outbox, and the state stays `local`.
      void settled.then(
        (verdict) => emit(judged(verdict, value)),
        () => undefined,
      );
      return value;
    } catch (error) {
      emit({ state: 'failed', error: error as BurrowError });
      throw error;
    }
  }

  /** Sets the state as if the mutation had never run. */
  readonly reset = (): void => {
    this.runs++;
    this.set(UNUSED);
  };
}

/** If the hub's result was too long to be stored, the value is the result on this device. */
const judged = <T>(verdict: Verdict<T>, value: T | undefined): MutationState<T> =>
  verdict.state === 'refused'
    ? { state: 'refused', value: undefined, error: verdict.error, id: verdict.id }
    : {
        state: verdict.state,
        value: verdict.value ?? value,
        error: undefined,
        id: verdict.id,
      };
