import { q } from './builders.ts';
import { acceptedValue, callable } from '../read-options.ts';
import type { Arg, Lambda } from './types/arguments.ts';
import type { ElementFunction, MadeOf } from './types/collections.ts';
import type { Page, PaginateOptions } from './types/documents.ts';
import type { Expr } from './values.ts';

type RunPage = (page: Expr<Page>) => Promise<Page>;
type Step = (page: Expr<Page>) => Expr<Page>;
/** Cursors of the pages on both sides, as far as they are known. */
interface PageCursors {
  readonly before?: unknown;
  readonly after?: unknown;
}

/**
 * Iterates over the pages of a set. It has a position, which `nextPage()` and `previousPage()` move. `each()` and iteration start at the
 * position and do not move it.
 * @example
 * const pages = client.paginate(q.Documents(notes), { size: 1 });
 * for await (const [ref] of pages) console.log(ref?.id); // 1, then 2
 */
export class PageHelper<T = unknown> implements AsyncIterable<T[]> {
  private readonly run: RunPage;
  private readonly set: Arg;
  private readonly options: PaginateOptions;
  private readonly steps: readonly Step[];
  /** @internal */
  before: unknown;
  /** @internal */
  after: unknown;

  constructor(
    run: RunPage,
    set: Arg,
    options: PaginateOptions,
    { before, after }: PageCursors,
    steps: readonly Step[] = [],
  ) {
    this.run = run;
    this.set = set;
    this.options = options;
    this.before = before;
    this.after = after;
    this.steps = steps;
  }

  /** Pages whose elements are mapped by `lambda`, in the database. */
  map<F extends ElementFunction<T>>(lambda: F): PageHelper<MadeOf<T, F>>;
  map<U = unknown>(lambda: Lambda): PageHelper<U>;
  map(lambda: unknown): PageHelper {
    return this.with((page) => q.Map(page, lambda as Expr));
  }

  /** Pages with only the elements for which `lambda` returns true, in the database. */
  filter(lambda: ElementFunction<T> | Expr): PageHelper<T> {
    return this.with<T>((page) => q.Filter(page, lambda as Expr));
  }

  /** Returns the elements of the next page. After the last page, returns that page again. */
  async nextPage(): Promise<T[]> {
    return this.moveTo(await this.fetch('after', this.after));
  }

  /** Returns the elements of the previous page. At the start of the set, returns its last page. */
  async previousPage(): Promise<T[]> {
    return this.moveTo(await this.fetch('before', this.before));
  }

  /** Calls `visit` with the elements of each page, from the position to the end of the set. */
  each(visit: (elements: T[]) => void | Promise<void>): Promise<void> {
    return visitAll(this, visit);
  }

  /** Calls `visit` with the elements of each page, from the position back to the start of the set. */
  eachReverse(visit: (elements: T[]) => void | Promise<void>): Promise<void> {
    return visitAll(this.walk('before', this.before), visit);
  }

  [Symbol.asyncIterator](): AsyncIterator<T[]> {
    return this.walk('after', this.after);
  }

  private async *walk(direction: 'before' | 'after', start: unknown): AsyncGenerator<T[], void> {
    let cursor = start;
    do {
      const page = await this.fetch(direction, cursor);
      yield page.data as T[];
      cursor = page[direction];
    } while (cursor !== undefined);
  }

  private fetch(direction: 'before' | 'after', cursor: unknown): Promise<Page> {
    // No page lies before the start of the set; `before: null` asks for the page before its end.
    const from = cursor === undefined && direction === 'before' ? null : cursor;
    const options = from === undefined ? this.options : { ...this.options, [direction]: from };
    const page: Expr<Page> = q.Paginate(this.set, options);
    return this.run(this.steps.reduce((built, step) => step(built), page));
  }

  private moveTo(page: Page): T[] {
    this.before = page.before ?? this.before;
    this.after = page.after ?? this.after;
    return page.data as T[];
  }

  private with<U>(step: Step): PageHelper<U> {
    return new PageHelper<U>(this.run, this.set, this.options, this, [...this.steps, step]);
  }
}

/** @throws UsageError before the first page is read, if `visit` is not a function */
async function visitAll<T>(
  pages: AsyncIterable<T[]>,
  visit: Parameters<PageHelper<T>['each']>[0],
): Promise<void> {
  acceptedValue(callable, visit, 'visit');
  for await (const elements of pages) await visit(elements);
}

/** @param options may have the cursor to start at; if it has both, `before` is used */
export function pagesOf<T>(run: RunPage, set: Arg, options: PaginateOptions): PageHelper<T> {
  const { before, after, cursor, ...rest } = options;
  const cursors = (cursor ?? { before, after }) as PageCursors;
  const start = cursors.before === undefined ? cursors : { before: cursors.before };
  return new PageHelper<T>(run, set, rest, start);
}
