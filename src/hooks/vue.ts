/** `burrowdb/vue`: Burrow in Vue. */
import {
  computed,
  inject,
  onMounted,
  onUnmounted,
  provide,
  shallowRef,
  toValue,
  watch,
  type ComputedRef,
  type InjectionKey,
  type MaybeRefOrGetter,
} from 'vue';
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
import { Mutation, UNUSED, type MutationOptions, type MutationState } from './core/mutation.ts';
import {
  NO_PAGE,
  noPageOf,
  NOWHERE,
  Pages,
  pagesRequest,
  type PageElement,
  type PagesOptions,
  type PagesRequest,
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
import type { MutationWays } from './core/used.ts';

export type * from './core/public.ts';

/** Each member of a state as a read-only ref. */
export type Refs<State> = { readonly [Name in keyof State]: ComputedRef<State[Name]> };

const BURROW: InjectionKey<Session> = Symbol('burrow');

/**
 * Provides the database to the components inside the calling component, and opens it when that component is mounted.
 * @example
 * provideBurrow({ database: () => openDatabase('todos') });
 */
export function provideBurrow(options: BurrowOptions): UsedSession {
  const session = new Session(options);
  provide(BURROW, session);
  onMounted(session.start);
  onUnmounted(session.stop);
  return used(session);
}

/** The user of the database, and functions to log in and out. */
export interface UsedSession extends Refs<SessionState>, Pick<Session, 'logIn' | 'logOut'> {}

/**
 * Returns the user of the database, and functions to log in and out.
 * @example
 * const session = useSession();
 * const leave = () => session.state.value === 'logged-in' && session.logOut();
 */
export const useSession = (): UsedSession => used(injected());

/**
 * Returns a client that acts as the logged-in user; undefined while nobody is logged in.
 * @example
 * const client = useClient();
 * const ask = () => client.value?.query(q.Now());
 */
export const useClient = (): ComputedRef<Client | undefined> => useSession().client;

/**
 * Returns the value of a query, and updates it whenever it changes. While the query is undefined, nothing is queried.
 * @example
 * const count = useQuery(q.Count(q.Documents(notes)));
 * const shown = () => (count.isLoading.value ? '…' : String(count.value.value));
 */
export function useQuery<T>(
  query: MaybeRefOrGetter<Expr<T> | undefined>,
  choices?: QueryChoices,
): Refs<QueryState<T>>;
export function useQuery<A extends Arg>(
  query: MaybeRefOrGetter<A | undefined>,
  choices?: QueryChoices,
): Refs<QueryState<Evaluated<A>>>;
export function useQuery(
  query: MaybeRefOrGetter<Arg | undefined>,
  choices?: QueryChoices,
): Refs<QueryState<unknown>> {
  const queries = useQueries();
  const state = useCell(
    () => {
      const current = toValue(query);
      return current === undefined ? undefined : queries.value?.find(current, choices);
    },
    () => (toValue(query) === undefined ? IDLE : LOADING),
  );
  return refsOf(state, LOADING);
}

/**
 * Returns a live page of a set, with functions to move to the next and the previous page. While the set is undefined, nothing is queried.
 * @param options `map` shows what it makes of each element, such as documents instead of refs
 * @example
 * const pages = usePages(q.Documents(notes), { size: 20, map: (ref) => q.Get(ref) });
 * const more = () => pages.next();
 */
export function usePages<T, F extends ElementFunction<T> = ElementFunction<T>>(
  set: MaybeRefOrGetter<Expr<SetRef<T>> | undefined>,
  options: MaybeRefOrGetter<PagesOptions<T, F>> = {},
): Refs<PagesState<PageElement<T, F>>> & Pick<Pages<PageElement<T, F>>, 'next' | 'previous'> {
  const queries = useQueries();
  const request = computed<PagesRequest | undefined>((before) => {
    const now = pagesRequest(toValue(set), toValue(options));
    return before?.text === now?.text ? before : now;
  });
  const pages = computed(
    () =>
      queries.value && request.value && new Pages<PageElement<T, F>>(queries.value, request.value),
  );
  const state = useCell(
    () => pages.value,
    (): PagesState<PageElement<T, F>> => noPageOf(request.value),
  );
  return {
    ...refsOf(state, NO_PAGE),
    next: () => (pages.value ?? NOWHERE).next(),
    previous: () => (pages.value ?? NOWHERE).previous(),
  };
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
  const session = injected();
  const mutation = new Mutation<T>(query, options, session);
  const state = useCell(
    () => mutation,
    (): MutationState<T> => UNUSED,
  );
  return {
    ...refsOf(state, UNUSED),
    run: (...args) => mutation.run({ ...session.get(), query, options }, args),
    reset: mutation.reset,
  };
}

export interface UsedMutation<Args extends readonly unknown[], T>
  extends Refs<MutationState<T>>, MutationWays<Args, T> {}

/**
 * Returns the state of the sync with the hub, the refused writes, and a function to resolve them.
 * @example
 * const sync = useSync();
 * const badge = () => (sync.pending.value > 0 ? `${sync.pending.value} to send` : sync.state.value);
 */
export function useSync(): Refs<SyncStatus> & Pick<SyncWatch, 'resolve'> {
  const { sync } = useSession();
  const watched = computed(() => sync.value && watchOf(sync.value));
  const state = useCell(
    () => watched.value,
    () => NO_SYNC,
  );
  return {
    ...refsOf(state, NO_SYNC),
    resolve: (...resolution) => (watched.value?.resolve ?? notSynced)(...resolution),
  };
}

function injected(): Session {
  const session = inject(BURROW, undefined);
  if (session) return session;
  throw new UsageError('No component above has called provideBurrow().');
}

function used(session: Session): UsedSession {
  const { logIn, logOut } = session;
  return { ...refsOf(useState(session), OPENING), logIn, logOut };
}

const useState = (session: Session): ComputedRef<SessionState> =>
  useCell(
    () => session,
    () => OPENING,
  );

function useQueries(): ComputedRef<Queries | undefined> {
  const state = useState(injected());
  return computed(() => queriesIn(state.value));
}

/** The value of a cell, which may be replaced by another cell. Subscribes to the cell until the calling scope ends. */
function useCell<T>(cell: () => Cell<T> | undefined, without: () => T): ComputedRef<T> {
  const followed = computed(cell);
  const changes = shallowRef(0);
  const emit = (): void => {
    changes.value++;
  };
  watch(
    followed,
    (now, _, onCleanup) => {
      if (now) onCleanup(now.subscribe(emit));
    },
    { immediate: true },
  );
  return computed(() => {
    void changes.value;
    return followed.value ? followed.value.get() : without();
  });
}

/** @param like a state with the same member names */
function refsOf<State extends object>(state: ComputedRef<State>, like: State): Refs<State> {
  const names = Object.keys(like) as (keyof State)[];
  const refs = names.map((name) => [name, computed(() => state.value[name])]);
  return Object.fromEntries(refs) as Refs<State>;
}
