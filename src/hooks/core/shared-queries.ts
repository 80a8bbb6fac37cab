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

/** What is known of a live query. */
export interface QueryState<T> {
  /** Undefined until there is a first answer. */
  readonly value: T | undefined;
  /** It failed. A value may follow when what it read changes, and `value` is the last one before. */
  readonly error: BurrowError | undefined;
  /** There is no answer yet. */
  readonly isLoading: boolean;
  /** `value` is of before: the query has failed since, or was not subscribed to meanwhile and is asked again. */
  readonly isStale: boolean;
  /** Of a copy: what the query read and the copy does not hold. Empty when nothing is missing. */
  readonly partial: AnswerScope['partial'];
  /** Whose `value` is; undefined until there is one. */
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
/** The query is undefined. */
export const IDLE: QueryState<never> = { ...NOTHING, isLoading: false };
/** There is nobody to ask yet: the database is being opened, or nobody has logged in. */
export const LOADING: QueryState<never> = { ...NOTHING, isLoading: true };

/** Values of queries that nobody subscribes to, kept so that a component that comes back shows one at once. */
const KEPT_MAX = 100;

/** One subscription, for all who ask the same. */
export class SharedQuery<T> extends Cell<QueryState<T>> {
  private readonly ask: (query: SharedQuery<T>) => () => void;
  private stop: (() => void) | undefined = undefined;
  /** Nothing follows: who asks from now on needs another one. */
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

  /** What was locked or closed is shown no more. */
  closed(error: BurrowError): void {
    this.isOver = true;
    this.set({ ...IDLE, error });
  }

  protected override onFirst(): void {
    this.stop ??= this.ask(this);
  }

  /** Later: a component that is mounted again at once goes on with the same subscription. */
  protected override onLast(): void {
    setTimeout(() => {
      if (this.isHeard || !this.stop) return;
      this.stop();
      this.stop = undefined;
      const state = this.get();
      this.set(state.value === undefined ? LOADING : { ...state, isStale: true });
    });
  }
}

/** The live queries of one client, by their text, and where they are answered. */
class SharedQueries implements Queries {
  private readonly client: Client;
  /**
   * Whoever has one is given the same again: a component is rendered with a query before it subscribes, and once more when it changes.
   * React drops what follows from another query in a rendering that shows nothing new, its subscription too.
   */
  private readonly byText = new Map<string, WeakRef<SharedQuery<unknown>>>();
  private readonly gone = new FinalizationRegistry<string>((text) => {
    if (!this.byText.get(text)?.deref()) this.byText.delete(text);
  });
  /** Nobody subscribes to them any more; the newest last. */
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

/** What finds queries by their text. */
export interface Queries {
  find(query: Arg, choices?: QueryChoices): Cell<QueryState<unknown>>;
}

export const queriesOf = onceFor((client: Client): Queries => new SharedQueries(client));

const failedQueries = onceFor(({ error }: SessionState): Queries => {
  const failed = new Cell<QueryState<unknown>>({ ...IDLE, error });
  return { find: () => failed };
});

/** Of who has logged in. Those of a session that has failed say why; undefined while there is nobody to ask. */
export const queriesIn = (session: SessionState): Queries | undefined =>
  session.client
    ? queriesOf(session.client)
    : session.state === 'failed'
      ? failedQueries(session)
      : undefined;
