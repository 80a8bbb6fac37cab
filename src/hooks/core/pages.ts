import { q, UsageError, type Arg, type Page } from '../../index.ts';
import { Cell } from './cell.ts';
import { requireKnown } from './require-known.ts';
import type { Queries, QueryChoices, QueryState } from './shared-queries.ts';

/** A live page of a set. */
export interface PagesState<T> extends Omit<QueryState<T>, 'value'> {
  /** The elements of the page; while the next one is loaded, of the one before it (`isStale`). */
  readonly data: readonly T[] | undefined;
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
}

export interface PagesOptions extends QueryChoices {
  /** Elements of a page; 64 when not given. */
  readonly size?: number | undefined;
}

const OPTIONS = ['size', 'at'] satisfies (keyof PagesOptions)[];

/** @throws UsageError when an option does not exist, or pages would have no elements */
export function knownOptions(options: PagesOptions): PagesOptions {
  requireKnown(options, OPTIONS);
  const { size = 64 } = options;
  if (size < 1)
    throw new UsageError(
      `The option \`size\` must be an integer from 1 to 100,000, but is ${size}.`,
    );
  return options;
}

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

/** There is no set: nothing is asked. */
const NO_SET: PagesState<never> = { ...NO_PAGE, isLoading: false };

/** What is shown before there are pages of a set. */
export const noPageOf = (set: Arg | undefined): PagesState<never> => (set ? NO_PAGE : NO_SET);

/** Where nothing can be gone through. */
export const NOWHERE = { next: () => undefined, previous: () => undefined };

type Cursor = Pick<Page, 'before' | 'after'>;

/** Goes through the pages of a set. The page it is at is live. */
export class Pages<T> extends Cell<PagesState<T>> {
  private readonly find: (cursor: Cursor) => Cell<QueryState<Page<T>>>;
  private query: Cell<QueryState<Page<T>>>;
  private stop: (() => void) | undefined = undefined;
  /** The last one that was there: when the next one fails, one goes on from it. */
  private page: Page<T> | undefined = undefined;

  constructor(queries: Queries, set: Arg, { size = 64, at }: PagesOptions) {
    super(NO_PAGE);
    this.find = (cursor) =>
      queries.find(q.Paginate(set, { size, ...cursor }), { at }) as Cell<QueryState<Page<T>>>;
    this.query = this.find({});
    this.show();
  }

  /** Goes to the next page, if there is one. */
  readonly next = (): void => this.move('after');

  /** Goes to the page before, if there is one. */
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
    if (this.isHeard) this.onFirst();
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
