import {
  UsageError,
  type BurrowError,
  type Client,
  type Expr,
  type SyncClient,
  type Verdict,
} from '../../index.ts';
import { Cell } from './cell.ts';
import { requireKnown } from './require-known.ts';
import { notOpen, type SessionState } from './session.ts';

/**
 * What became of the last run.
 * - `running`: not stored yet.
 * - `local`: stored here; the hub has not judged it.
 * - `confirmed`, `amended`, `refused`: the hub's verdict. Without a hub a write that is stored is confirmed.
 * - `failed`: it changed nothing.
 */
export interface MutationState<T> {
  readonly state: 'idle' | 'running' | 'local' | 'confirmed' | 'amended' | 'refused' | 'failed';
  /** What it did here; of an amended one, at the hub. */
  readonly value: T | undefined;
  /** Why it failed or was refused. */
  readonly error: BurrowError | undefined;
  /** Of the write in `sync.writes`. */
  readonly id: string | undefined;
}

/** What is kept with the write, for lists of writes: the same, or made of the arguments of each run. */
export interface MutationOptions<Args extends readonly unknown[]> {
  /** What it does, in words of the user. */
  readonly label?: string | ((...args: Args) => string);
  /** Anything that JSON can hold. */
  readonly data?: (...args: Args) => unknown;
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
  /** Why there is no client, if it is not that nobody tried to log in. */
  readonly error?: BurrowError | undefined;
  readonly query: (...args: Args) => Expr<T>;
  readonly options: MutationOptions<Args>;
}

export class Mutation<T> extends Cell<MutationState<T>> {
  private readonly session: Cell<Pick<SessionState, 'client'>> | undefined;
  private runs = 0;
  /** Of the last run. */
  private client: Client | undefined = undefined;
  private stop: (() => void) | undefined = undefined;

  /**
   * @param session whose users write: what one of them has written is not shown to the next
   * @throws UsageError when it could not be run
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
   * Resolves when it is stored here, with what it did. For callers that do not await it there is `error`: a run that fails is no unhandled
   * rejection.
   * @throws BurrowError when it failed, or nobody has logged in
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
    // Of several at once, the one begun last is shown.
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
      // A database that is closed emits no verdict: the write waits, and stays local.
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

  /** As if it had never run. */
  readonly reset = (): void => {
    this.runs++;
    this.set(UNUSED);
  };
}

/** An answer that was too long to be kept is the one given here. */
const judged = <T>(verdict: Verdict<T>, value: T | undefined): MutationState<T> =>
  verdict.state === 'refused'
    ? { state: 'refused', value: undefined, error: verdict.error, id: verdict.id }
    : {
        state: verdict.state,
        value: verdict.value ?? value,
        error: undefined,
        id: verdict.id,
      };
