import {
  queryText,
  type AnswerScope,
  type Arg,
  type BurrowError,
  type Client,
  type SubscribeOptions,
} from '../../index.ts';
import { Cell } from './cell.ts';
import { onceFor } from './once-for.ts';
import { requireKnown } from './require-known.ts';
import type { SessionState } from './session.ts';

/** State of a live query. */
export interface QueryState<T> {
  /** Undefined until the first answer. */
  readonly value: T | undefined;
  /** Why the query failed. `value` is then the last one before, and a new value may follow when data that the query read changes. */
  readonly error: BurrowError | undefined;
  /** Whether there is no answer yet. */
  readonly isLoading: boolean;
  /** Whether `value` may be outdated: the query has failed since, or had no subscriber for a while and is being queried again. */
  readonly isStale: boolean;
  /** On a copy: collections and indexes that the query read and the copy does not hold. Empty if nothing is missing. */
  readonly partial: AnswerScope['partial'];
  /** Where `value` comes from; undefined until there is a value. */
  readonly from: AnswerScope['from'] | undefined;
}

/** Where the values of a query come from: see `SubscribeOptions`. */
export interface QueryChoices {
  readonly at?: SubscribeOptions['at'] | undefined;
}

const CHOICES = ['at'] satisfies (keyof QueryChoices)[];

const NOTHING = {
  value: undefined,
  error: undefined,
  isStale: false,
  partial: [],
  from: undefined,
} as const;
/** State of a hook whose query is undefined. */
export const IDLE: QueryState<never> = { ...NOTHING, isLoading: false };
/** State while there is no client yet: the database is being opened, or nobody has logged in. */
export const LOADING: QueryState<never> = { ...NOTHING, isLoading: true };

/** Number of queries without a subscriber whose values are kept, so that a component that is mounted again shows a value at once. */
const KEPT_MAX = 100;

/** One subscription that is shared by all components with the same query. */
export class SharedQuery<T> extends Cell<QueryState<T>> {
  private readonly ask: (query: SharedQuery<T>) => () => void;
  private stop: (() => void) | undefined = undefined;
  /** Whether the subscription has ended for good: later callers need a new one. */
  isOver = false;

  constructor(ask: (query: SharedQuery<T>) => () => void) {
    super(LOADING);
    this.ask = ask;
  }

  next(value: T, scope: AnswerScope): void {
    this.set({ ...IDLE, value, ...scope });
  }

  error(error: BurrowError): void {
    const state = this.get();
    this.set({ ...state, error, isLoading: false, isStale: state.value !== undefined });
  }

  /** After the database was locked or closed, its values are no longer shown. */
  closed(error: BurrowError): void {
    this.isOver = true;
    this.set({ ...IDLE, error });
  }

  protected override onFirst(): void {
    this.stop ??= this.ask(this);
  }

  /** Unsubscribes in a later task, so a component that is unmounted and mounted again at once keeps the subscription. */
  protected override onLast(): void {
    setTimeout(() => {
      if (this.hasListeners || !this.stop) return;
      this.stop();
      this.stop = undefined;
      const state = this.get();
      this.set(state.value === undefined ? LOADING : { ...state, isStale: true });
    });
  }
}

/** The live queries of one client, by their text and `at`. */
class SharedQueries implements Queries {
  private readonly client: Client;
  /**
   * A query object that is still referenced is returned again, because a component is rendered with it before it subscribes, and again when
   * it changes. If a rendering that shows nothing new used another query object, React would drop its effects, including the subscription.
   */
  private readonly byText = new Map<string, WeakRef<SharedQuery<unknown>>>();
  private readonly gone = new FinalizationRegistry<string>((text) => {
    if (!this.byText.get(text)?.deref()) this.byText.delete(text);
  });
  /** Queries without a subscriber, the newest last. */
  private readonly kept = new Set<SharedQuery<unknown>>();

  constructor(client: Client) {
    this.client = client;
  }

  find(query: Arg, choices: QueryChoices = {}): SharedQuery<unknown> {
    requireKnown(choices, CHOICES);
    const { at } = choices;
    const text = `${at ?? ''} ${queryText(query)}`;
    const found = this.byText.get(text)?.deref();
    if (found?.isOver === false) return found;
    const shared = new SharedQuery((asked) => {
      this.kept.delete(asked);
      const stop = this.client.subscribe(query, asked, at && { at });
      return () => {
        stop();
        this.keep(asked);
      };
    });
    this.byText.set(text, new WeakRef(shared));
    this.gone.register(shared, text);
    return shared;
  }

  private keep(query: SharedQuery<unknown>): void {
    const [oldest] = this.kept.add(query);
    if (oldest && this.kept.size > KEPT_MAX) this.kept.delete(oldest);
  }
}

/** Finds queries by their text. */
export interface Queries {
  find(query: Arg, choices?: QueryChoices): Cell<QueryState<unknown>>;
}

export const queriesOf = onceFor((client: Client): Queries => new SharedQueries(client));

const failedQueries = onceFor(({ error }: SessionState): Queries => {
  const failed = new Cell<QueryState<unknown>>({ ...IDLE, error });
  return { find: () => failed };
});

/** Queries of the logged-in user. If the session has failed, they report its error. Undefined while there is no client. */
export const queriesIn = (session: SessionState): Queries | undefined =>
  session.client
    ? queriesOf(session.client)
    : session.state === 'failed'
      ? failedQueries(session)
      : undefined;
