import {
  q,
  queryText,
  UsageError,
  type Arg,
  type ElementFunction,
  type Expr,
  type MadeOf,
  type Page,
} from '../../index.ts';
import { Cell } from './cell.ts';
import { requireKnown } from './require-known.ts';
import type { Queries, QueryChoices, QueryState } from './shared-queries.ts';

/** State of a live page of a set. */
export interface PagesState<T> extends Omit<QueryState<T>, 'value'> {
  /** The elements of the page. While another page is loaded, those of the page before it (`isStale`). */
  readonly data: readonly T[] | undefined;
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
}

export interface PagesOptions<
  T = unknown,
  F extends ElementFunction<T> = ElementFunction<T>,
> extends QueryChoices {
  /** Elements per page; 64 by default. */
  readonly size?: number | undefined;
  /** Maps each element in the database: `(ref) => q.Get(ref)`. The page is live for what this reads, too. */
  readonly map?: F | undefined;
}

/** Type of the elements of a page: what `map` makes of each; without `map`, the elements of the set. */
export type PageElement<T, F extends ElementFunction<T>> =
  unknown extends ReturnType<F> ? T : MadeOf<T, F>;

const OPTIONS = ['size', 'at', 'map'] satisfies (keyof PagesOptions)[];

export const NO_PAGE: PagesState<never> = {
  data: undefined,
  error: undefined,
  isLoading: true,
  isStale: false,
  partial: [],
  from: undefined,
  hasNext: false,
  hasPrevious: false,
};

/** There is no set, so nothing is queried. */
const NO_SET: PagesState<never> = { ...NO_PAGE, isLoading: false };

/** The pages that a component asks for. */
export interface PagesRequest {
  /** Equal for equal pages: sets and functions are often built anew for each rendering. */
  readonly text: string;
  readonly page: (cursor: Cursor) => Expr<Page>;
  readonly at: QueryChoices['at'];
}

/**
 * Undefined while there is no set.
 * @throws UsageError when an option does not exist, or `size` is less than 1
 */
export function pagesRequest<T, F extends ElementFunction<T>>(
  set: Arg | undefined,
  options: PagesOptions<T, F>,
): PagesRequest | undefined {
  requireKnown(options, OPTIONS);
  const { size = 64, at, map } = options;
  if (size < 1)
    throw new UsageError(
      `The option \`size\` must be an integer from 1 to 100,000, but is ${size}.`,
    );
  if (!set) return undefined;
  const page = (cursor: Cursor): Expr<Page> => {
    const whole = q.Paginate(set, { size, ...cursor });
    return map ? q.Map(whole, map as ElementFunction<unknown>) : whole;
  };
  return { text: `${at} ${queryText(page({}))}`, page, at };
}

/** The state that is shown while there are no pages. */
export const noPageOf = (request: PagesRequest | undefined): PagesState<never> =>
  request ? NO_PAGE : NO_SET;

/** The moves that are returned while there are no pages: they do nothing. */
export const NOWHERE = { next: () => undefined, previous: () => undefined };

type Cursor = Pick<Page, 'before' | 'after'>;

/** Moves through the pages of a set. The current page is live. */
export class Pages<T> extends Cell<PagesState<T>> {
  private readonly find: (cursor: Cursor) => Cell<QueryState<Page<T>>>;
  private query: Cell<QueryState<Page<T>>>;
  private stop: (() => void) | undefined = undefined;
  /** The last page that was loaded: if loading the next one fails, moves start from this page. */
  private page: Page<T> | undefined = undefined;

  constructor(queries: Queries, { page, at }: PagesRequest) {
    super(NO_PAGE);
    this.find = (cursor) => queries.find(page(cursor), { at }) as Cell<QueryState<Page<T>>>;
    this.query = this.find({});
    this.show();
  }

  /** Moves to the next page, if there is one. */
  readonly next = (): void => this.move('after');

  /** Moves to the previous page, if there is one. */
  readonly previous = (): void => this.move('before');

  protected override onFirst(): void {
    this.stop = this.query.subscribe(() => this.show());
    this.show();
  }

  protected override onLast(): void {
    this.stop?.();
  }

  private move(direction: keyof Cursor): void {
    const cursor = this.page?.[direction];
    if (cursor === undefined || this.query.get().isLoading) return;
    this.query = this.find({ [direction]: cursor });
    this.stop?.();
    if (this.hasListeners) this.onFirst();
    else this.show();
  }

  private show(): void {
    const { value, ...state } = this.query.get();
    this.page = value ?? this.page;
    const { data, after, before } = this.page ?? {};
    this.set({
      ...state,
      data,
      isStale: state.isStale || (data !== undefined && !value),
      hasNext: !state.isLoading && after !== undefined,
      hasPrevious: !state.isLoading && before !== undefined,
    });
  }
}
