/** `burrowdb/svelte`: Burrow in Svelte. */
import { getContext, onMount, setContext } from 'svelte';
import { createSubscriber } from 'svelte/reactivity';
import {
  UsageError,
  type Arg,
  type Client,
  type ElementFunction,
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
  NO_PAGE,
  noPageOf,
  NOWHERE,
  Pages,
  pagesRequest,
  type PageElement,
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
import type { UsedMutation, UsedPages, UsedSession } from './core/used.ts';

export type * from './core/public.ts';
export type { UsedMutation, UsedPages, UsedSession } from './core/used.ts';

const BURROW = Symbol('burrow');

/**
 * Provides the database to the components inside the calling component, and opens it when that component is mounted.
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
 * Returns the user of the database, and functions to log in and out.
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
 * Returns a client as `current`, which acts as the logged-in user; undefined while nobody is logged in.
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
 * Returns the value of a query, and updates it whenever it changes. While the query is undefined, nothing is queried.
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
 * Returns a live page of a set, with functions to move to the next and the previous page. While the set is undefined, nothing is queried.
 * @param options `map` shows what it makes of each element, such as documents instead of refs
 * @example
 * const pages = usePages(() => q.Documents(notes), { size: 20, map: (ref) => q.Get(ref) });
 * const more = () => pages.next();
 */
export function usePages<T, F extends ElementFunction<T> = ElementFunction<T>>(
  set: Given<Expr<SetRef<T>>>,
  options: PagesOptions<T, F> | (() => PagesOptions<T, F>) = {},
): UsedPages<PageElement<T, F>> {
  const session = usedSession();
  let last: { queries: Queries; text: string; pages: Pages<PageElement<T, F>> } | undefined;
  const requested = () =>
    pagesRequest(given(set), typeof options === 'function' ? options() : options);
  const current = (): Pages<PageElement<T, F>> | undefined => {
    const queries = queriesIn(read(session));
    const request = requested();
    if (!queries || !request) return undefined;
    const { text } = request;
    if (last?.queries !== queries || last.text !== text)
      last = { queries, text, pages: new Pages<PageElement<T, F>>(queries, request) };
    return last.pages;
  };
  const state = (): PagesState<PageElement<T, F>> => {
    const pages = current();
    return pages ? read(pages) : noPageOf(requested());
  };
  const ways = {
    next: () => (current() ?? NOWHERE).next(),
    previous: () => (current() ?? NOWHERE).previous(),
  };
  return withGetters(ways, state, NO_PAGE);
}

/**
 * Returns a function that executes a write, with the state of its last run: stored on this device, then the verdict of the hub.
 * @param query makes the query from the arguments of `run`
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
 * Returns the state of the sync with the hub, the refused writes, and a function to resolve them.
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

/** The value of a cell. An effect that reads it runs again when the value changes. */
function read<T>(cell: Cell<T>): T {
  subscriberOf(cell)();
  return cell.get();
}
