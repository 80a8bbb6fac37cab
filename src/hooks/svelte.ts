/** Burrow in Svelte: `burrowdb/svelte`. */
import { getContext, onMount, setContext } from 'svelte';
import { createSubscriber } from 'svelte/reactivity';
import {
  queryText,
  UsageError,
  type Arg,
  type Client,
  type Evaluated,
  type Expr,
  type SetRef,
} from '../index.ts';
import type { Cell } from './core/cell.ts';
import { given, type Given } from './core/given.ts';
import { withGetters } from './core/getters.ts';
import { Mutation, UNUSED, type MutationOptions } from './core/mutation.ts';
import { onceFor } from './core/once-for.ts';
import {
  knownOptions,
  NO_PAGE,
  noPageOf,
  NOWHERE,
  Pages,
  type PagesOptions,
  type PagesState,
} from './core/pages.ts';
import { OPENING, Session, type BurrowOptions } from './core/session.ts';
import {
  IDLE,
  LOADING,
  queriesIn,
  type Queries,
  type QueryChoices,
  type QueryState,
} from './core/shared-queries.ts';
import {
  NO_SYNC,
  notSynced,
  watchOf,
  type SyncStatus,
  type SyncWatch,
} from './core/sync-status.ts';
import type { UsedMutation, UsedSession } from './core/used.ts';

export type * from './core/public.ts';
export type { UsedMutation, UsedSession } from './core/used.ts';

const BURROW = Symbol('burrow');

/**
 * Gives the database to the components below the one that calls it, and opens it when that one is mounted.
 * @example
 * provideBurrow({ database: () => openDatabase('todos') });
 */
export function provideBurrow(options: BurrowOptions): UsedSession {
  const session = new Session(options);
  setContext(BURROW, session);
  onMount(session.start);
  return useSession();
}

/**
 * @example
 * const session = useSession();
 * const leave = () => session.state === 'logged-in' && session.logOut();
 */
export function useSession(): UsedSession {
  const session = usedSession();
  const { logIn, logOut } = session;
  return withGetters({ logIn, logOut }, () => read(session), OPENING);
}

/**
 * `current` acts as who has logged in; undefined while nobody has.
 * @example
 * const client = useClient();
 * const ask = () => client.current?.query(q.Now());
 */
export function useClient(): { readonly current: Client | undefined } {
  const session = usedSession();
  return {
    get current() {
      return read(session).client;
    },
  };
}

/**
 * The value of a query, and every later one. While the query is undefined nothing is asked.
 * @example
 * const count = useQuery(() => q.Count(q.Documents(notes)));
 * const shown = () => (count.isLoading ? '…' : String(count.value));
 */
export function useQuery<T>(query: Given<Expr<T>>, choices?: QueryChoices): QueryState<T>;
export function useQuery<A extends Arg>(
  query: Given<A>,
  choices?: QueryChoices,
): QueryState<Evaluated<A>>;
export function useQuery(query: Given<Arg>, choices?: QueryChoices): QueryState<unknown> {
  const session = usedSession();
  const state = (): QueryState<unknown> => {
    const queries = queriesIn(read(session));
    const current = given(query);
    if (current === undefined) return IDLE;
    return queries ? read(queries.find(current, choices)) : LOADING;
  };
  return withGetters({}, state, LOADING);
}

/**
 * A page of a set, live, and the way to the next one and back. While the set is undefined nothing is asked.
 * @example
 * const pages = usePages(() => q.Documents(notes), { size: 20 });
 * const more = () => pages.next();
 */
export function usePages<T>(
  set: Given<Expr<SetRef<T>>>,
  options: PagesOptions | (() => PagesOptions) = {},
): PagesState<T> & Pick<Pages<T>, 'next' | 'previous'> {
  const session = usedSession();
  let last: { queries: Queries; text: string; pages: Pages<T> } | undefined;
  const current = (): Pages<T> | undefined => {
    const queries = queriesIn(read(session));
    const of = given(set);
    const { size, at } = knownOptions(typeof options === 'function' ? options() : options);
    if (!queries || !of) return undefined;
    // The text tells sets apart that are built anew each time.
    const text = `${size} ${at} ${queryText(of)}`;
    if (last?.queries !== queries || last.text !== text)
      last = { queries, text, pages: new Pages<T>(queries, of, { size, at }) };
    return last.pages;
  };
  const state = (): PagesState<T> => {
    const pages = current();
    return pages ? read(pages) : noPageOf(given(set));
  };
  const ways = {
    next: () => (current() ?? NOWHERE).next(),
    previous: () => (current() ?? NOWHERE).previous(),
  };
  return withGetters(ways, state, NO_PAGE);
}

/**
 * A write, and what became of its last run: stored here, then the verdict of the hub.
 * @param query of the arguments of `run`
 * @example
 * const add = useMutation((title: string) => q.Create(notes, { data: { title } }));
 * const onClick = () => add.run('a heron');
 */
export function useMutation<Args extends readonly unknown[], T>(
  query: (...args: Args) => Expr<T>,
  options: MutationOptions<Args> = {},
): UsedMutation<Args, T> {
  const session = usedSession();
  const mutation = new Mutation<T>(query, options, session);
  const run = (...args: Args) => mutation.run({ ...session.get(), query, options }, args);
  return withGetters({ run, reset: mutation.reset }, () => read(mutation), UNUSED);
}

/**
 * How the copy stands to its hub, and what to do about refused writes.
 * @example
 * const sync = useSync();
 * const badge = () => (sync.pending > 0 ? `${sync.pending} to send` : sync.state);
 */
export function useSync(): SyncStatus & Pick<SyncWatch, 'resolve'> {
  const session = usedSession();
  const watched = (): SyncWatch | undefined => {
    const { sync } = read(session);
    return sync && watchOf(sync);
  };
  const resolve: SyncWatch['resolve'] = (...resolution) =>
    (watched()?.resolve ?? notSynced)(...resolution);
  const state = (): SyncStatus => {
    const watch = watched();
    return watch ? read(watch) : NO_SYNC;
  };
  return withGetters({ resolve }, state, NO_SYNC);
}

function usedSession(): Session {
  const session = getContext<Session | undefined>(BURROW);
  if (session) return session;
  throw new UsageError('No component above has called provideBurrow().');
}

const subscriberOf = onceFor((cell: Cell<unknown>) => createSubscriber(cell.subscribe));

/** What the cell holds. An effect that reads it follows it. */
function read<T>(cell: Cell<T>): T {
  subscriberOf(cell)();
  return cell.get();
}
