/** `burrowdb/solid`: Burrow in Solid. */
import {
  createComponent,
  createContext,
  createEffect,
  createMemo,
  createSignal,
  onCleanup,
  onMount,
  useContext,
  type Accessor,
  type JSX,
  type ParentProps,
} from 'solid-js';
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
import { Mutation, UNUSED, type MutationOptions, type MutationState } from './core/mutation.ts';
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
import { OPENING, Session, type BurrowOptions, type SessionState } from './core/session.ts';
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

const Burrow = createContext<Session>();

/**
 * Provides the database to the components inside it, and opens it when it is mounted.
 * @example
 * const app = () => BurrowProvider({ database: () => openDatabase('todos'), children: undefined });
 */
export function BurrowProvider(props: ParentProps<BurrowOptions>): JSX.Element {
  const session = new Session(props);
  onMount(session.start);
  onCleanup(session.stop);
  return createComponent(Burrow.Provider, {
    value: session,
    get children() {
      return props.children;
    },
  });
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
  return withGetters({ logIn, logOut }, useState(session), OPENING);
}

/**
 * Returns a client that acts as the logged-in user; undefined while nobody is logged in.
 * @example
 * const client = useClient();
 * const ask = () => client()?.query(q.Now());
 */
export function useClient(): Accessor<Client | undefined> {
  const session = useSession();
  return createMemo(() => session.client);
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
  const queries = useQueries();
  const current = createMemo(() => given(query));
  const state = useCell(
    () => {
      const built = current();
      return built === undefined ? undefined : queries()?.find(built, choices);
    },
    () => (current() === undefined ? IDLE : LOADING),
  );
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
  options: PagesOptions<T, F> | Accessor<PagesOptions<T, F>> = {},
): UsedPages<PageElement<T, F>> {
  const queries = useQueries();
  const request = createMemo(
    () => pagesRequest(given(set), typeof options === 'function' ? options() : options),
    undefined,
    { equals: (one, other) => one?.text === other?.text },
  );
  const pages = createMemo(() => {
    const [by, of] = [queries(), request()];
    return by && of && new Pages<PageElement<T, F>>(by, of);
  });
  const state = useCell(pages, (): PagesState<PageElement<T, F>> => noPageOf(request()));
  const ways = {
    next: () => (pages() ?? NOWHERE).next(),
    previous: () => (pages() ?? NOWHERE).previous(),
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
  const state = useCell(
    () => mutation,
    (): MutationState<T> => UNUSED,
  );
  const run = (...args: Args) => mutation.run({ ...session.get(), query, options }, args);
  return withGetters({ run, reset: mutation.reset }, state, UNUSED);
}

/**
 * Returns the state of the sync with the hub, the refused writes, and a function to resolve them.
 * @example
 * const sync = useSync();
 * const badge = () => (sync.pending > 0 ? `${sync.pending} to send` : sync.state);
 */
export function useSync(): SyncStatus & Pick<SyncWatch, 'resolve'> {
  const session = useSession();
  const watched = createMemo(() => session.sync && watchOf(session.sync));
  const resolve: SyncWatch['resolve'] = (...resolution) =>
    (watched()?.resolve ?? notSynced)(...resolution);
  return withGetters(
    { resolve },
    useCell(watched, () => NO_SYNC),
    NO_SYNC,
  );
}

const useState = (session: Session): Accessor<SessionState> =>
  useCell(
    () => session,
    () => OPENING,
  );

function useQueries(): Accessor<Queries | undefined> {
  const state = useState(usedSession());
  return createMemo(() => queriesIn(state()));
}

function usedSession(): Session {
  const session = useContext(Burrow);
  if (session) return session;
  throw new UsageError('There is no <BurrowProvider> above.');
}

/** The value of a cell, which may be replaced by another cell. Subscribes to the cell until the owner is disposed of. */
function useCell<T>(cell: Accessor<Cell<T> | undefined>, without: Accessor<T>): Accessor<T> {
  const followed = createMemo(cell);
  const [changes, emit] = createSignal(undefined, { equals: false });
  // Effects do not run on a server, so nothing is subscribed there.
  createEffect(() => {
    const now = followed();
    if (!now) return;
    onCleanup(now.subscribe(() => emit()));
    // The value may have changed between rendering and this effect.
    emit();
  });
  return createMemo(() => {
    changes();
    const now = followed();
    return now ? now.get() : without();
  });
}
