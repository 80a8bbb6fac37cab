/** `burrowdb/react`: Burrow in React. */
import {
  createContext,
  createElement,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
  type ReactElement,
  type ReactNode,
} from 'react';
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
import { Mutation, UNUSED, type MutationOptions } from './core/mutation.ts';
import {
  noPageOf,
  NOWHERE,
  Pages,
  pagesRequest,
  type PageElement,
  type PagesOptions,
} from './core/pages.ts';
import { OPENING, Session, type BurrowOptions } from './core/session.ts';
import {
  IDLE,
  LOADING,
  queriesIn,
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

const Burrow = createContext<Session | undefined>(undefined);

export interface BurrowProviderProps extends BurrowOptions {
  readonly children?: ReactNode;
}

/**
 * Provides the database to the components inside it, and opens it when it is mounted.
 * @example
 * const app = (
 *   <BurrowProvider database={() => openDatabase('todos')}>
 *     <main />
 *   </BurrowProvider>
 * );
 */
export function BurrowProvider({ children, ...options }: BurrowProviderProps): ReactElement {
  const [session] = useState(() => new Session(options));
  useEffect(session.start, [session]);
  return createElement(Burrow.Provider, { value: session }, children);
}

/**
 * Returns the user of the database, and functions to log in and out.
 * @example
 * function Who() {
 *   const { state, logOut } = useSession();
 *   return state === 'logged-in' ? <button onClick={() => void logOut()}>Log out</button> : null;
 * }
 */
export function useSession(): UsedSession {
  const session = useBurrow();
  const { logIn, logOut } = session;
  return { ...useCell(session, OPENING), logIn, logOut };
}

/**
 * Returns a client that acts as the logged-in user; undefined while nobody is logged in.
 * @example
 * function Today() {
 *   const client = useClient();
 *   return <button onClick={() => void client?.query(q.Now())}>Ask</button>;
 * }
 */
export const useClient = (): Client | undefined => useSession().client;

/**
 * Returns the value of a query, and updates it whenever it changes. While the query is undefined, nothing is queried.
 * @param choices the values that a query given as a function depends on: as an array, or as `deps` beside `at`, which says where the value
 * comes from
 * @example
 * function Notes() {
 *   const { value, error, isLoading } = useQuery(q.Count(q.Documents(notes)));
 *   if (error) return <p>{error.description}</p>;
 *   return <p>{isLoading ? '…' : value}</p>;
 * }
 */
export function useQuery<T>(
  query: Expr<T> | undefined | (() => Expr<T> | undefined),
  choices?: QueryDeps,
): QueryState<T>;
export function useQuery<A extends Arg>(
  query: A | undefined,
  choices?: QueryDeps,
): QueryState<Evaluated<A>>;
export function useQuery(query: QueryArg, choices?: QueryDeps): QueryState<unknown> {
  const [built, shared] = useShared(query, choices);
  return useCell(shared, built === undefined ? IDLE : LOADING);
}

/**
 * Like `useQuery`, for a component inside `<Suspense>`: the component waits until there is a value.
 * @throws BurrowError, for the error boundary, when the query is undefined or fails, or when the database cannot be used
 * @example
 * function Notes() {
 *   const { value } = useSuspenseQuery(q.Count(q.Documents(notes)));
 *   return <p>{value}</p>;
 * }
 */
export function useSuspenseQuery<T>(
  query: Expr<T> | (() => Expr<T>),
  choices?: QueryDeps,
): QueryState<T> & { readonly value: T };
export function useSuspenseQuery<A extends Arg>(
  query: A,
  choices?: QueryDeps,
): QueryState<Evaluated<A>> & { readonly value: Evaluated<A> };
export function useSuspenseQuery(query: QueryArg, choices?: QueryDeps): QueryState<unknown> {
  const session = useBurrow();
  const [built, shared] = useShared(query, choices);
  // Waiting for a value would never end.
  if (built === undefined)
    throw new UsageError(
      'useSuspenseQuery() got no query: render the component when there is one.',
    );
  const state = useCell(shared, LOADING, TAKEN_OVER);
  // Waiting on a server would never end. When this throws, `<Suspense>` sends its fallback, and the page renders the component.
  if (state === TAKEN_OVER && typeof document === 'undefined')
    throw new UsageError('There is no value on a server.');
  if (state.error && state.value === undefined) throw state.error;
  // `<Suspense>` catches the promise. `use()` does not fit, because it would have to be called also when there is nothing to wait for.
  // oxlint-disable-next-line typescript/only-throw-error
  if (state.isLoading) throw untilChanged(shared ?? session);
  return state;
}

/**
 * Returns a live page of a set, with functions to move to the next and the previous page. While the set is undefined, nothing is queried.
 * @param options `map` shows what it makes of each element, such as documents instead of refs
 * @example
 * function Pages() {
 *   const { data, next } = usePages(q.Documents(notes), { size: 20, map: (ref) => q.Get(ref) });
 *   return <button onClick={next}>{data?.length} shown, more</button>;
 * }
 */
export function usePages<T, F extends ElementFunction<T> = ElementFunction<T>>(
  set: Expr<SetRef<T>> | undefined,
  options: PagesOptions<T, F> = {},
): UsedPages<PageElement<T, F>> {
  const queries = useQueries();
  const request = pagesRequest(set, options);
  const pages = useMemo(
    () => queries && request && new Pages<PageElement<T, F>>(queries, request),
    [queries, request?.text],
  );
  const { next, previous } = pages ?? NOWHERE;
  return { ...useCell(pages, noPageOf(request)), next, previous };
}

/**
 * Returns a function that executes a write, with the state of its last run: stored on this device, then the verdict of the hub.
 * @param query makes the query from the arguments of `run`
 * @example
 * function Add() {
 *   const { run, state } = useMutation((title: string) => q.Create(notes, { data: { title } }));
 *   return <button onClick={() => void run('a heron')}>{state}</button>;
 * }
 */
export function useMutation<Args extends readonly unknown[], T>(
  query: (...args: Args) => Expr<T>,
  options: MutationOptions<Args> = {},
): UsedMutation<Args, T> {
  const use = { ...useSession(), query, options };
  const session = useBurrow();
  const [mutation] = useState(() => new Mutation<T>(query, options, session));
  const latest = useRef(use);
  useEffect(() => {
    latest.current = use;
  });
  const run = useCallback((...args: Args) => mutation.run(latest.current, args), [mutation]);
  return { ...useCell(mutation, UNUSED), run, reset: mutation.reset };
}

/**
 * Returns the state of the sync with the hub, the refused writes, and a function to resolve them.
 * @example
 * function Badge() {
 *   const { state, pending } = useSync();
 *   return <p>{pending > 0 ? `${pending} to send` : state}</p>;
 * }
 */
export function useSync(): SyncStatus & Pick<SyncWatch, 'resolve'> {
  const { sync } = useSession();
  const watch = sync && watchOf(sync);
  return { ...useCell(watch, NO_SYNC), resolve: watch?.resolve ?? notSynced };
}

/**
 * The values that a query given as a function depends on: the function is called again when one of them changes. As an array, or beside
 * `at`.
 */
export type QueryDeps =
  | readonly unknown[]
  | (QueryChoices & { readonly deps?: readonly unknown[] | undefined });

type QueryArg = Arg | undefined | (() => Arg | undefined);

/** How long a subscription is kept for a component that waits for a value before it is mounted, ms: it keeps the query alive. */
const MOUNT_MS = 5000;
const waits = new WeakMap<object, Promise<void>>();

/** Resolves at the next change of the cell. Until then, every call returns the same promise. */
function untilChanged(cell: Cell<unknown>): Promise<void> {
  const known = waits.get(cell);
  if (known) return known;
  const wait = new Promise<void>((resolve) => {
    const stop = cell.subscribe(() => {
      waits.delete(cell);
      resolve();
      setTimeout(stop, MOUNT_MS);
    });
  });
  waits.set(cell, wait);
  return wait;
}

function useBurrow(): Session {
  const session = useContext(Burrow);
  if (session) return session;
  throw new UsageError('There is no <BurrowProvider> above.');
}

const useQueries = () => queriesIn(useCell(useBurrow(), OPENING));

const nothing = () => () => undefined;
/** The state on a server and during hydration. */
const TAKEN_OVER: QueryState<never> = { ...LOADING };

function useShared(query: QueryArg, choices: QueryDeps = {}) {
  const { deps, ...others }: Exclude<QueryDeps, readonly unknown[]> = Array.isArray(choices)
    ? { deps: choices }
    : (Object(choices) as QueryChoices);
  const queries = useQueries();
  const built = useMemo(() => (typeof query === 'function' ? query() : query), deps ?? [query]);
  const shared = useMemo(
    () => (built === undefined ? undefined : queries?.find(built, others)),
    [queries, built, others.at],
  );
  return [built, shared] as const;
}

/** On a server and during hydration, returns `onServer`, as if there was no value yet. */
const useCell = <T>(cell: Cell<T> | undefined, without: T, onServer = without): T =>
  useSyncExternalStore(cell?.subscribe ?? nothing, cell?.get ?? (() => without), () => onServer);
