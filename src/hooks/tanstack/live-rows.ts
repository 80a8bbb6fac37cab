import type { SyncConfig } from '@tanstack/db';
import {
  UsageError,
  type BurrowError,
  type Client,
  type Expr,
  type Page,
  type StoredDocument,
} from '../../index.ts';
import { textOf } from './changes.ts';

/** An item of a TanStack DB collection: the data of a document, and the id of its ref. */
export type BurrowItem<T> = T & { readonly id: string };

type Documents<T> = readonly StoredDocument<T>[] | Page<StoredDocument<T>>;
type Rows<T extends object> = Parameters<SyncConfig<BurrowItem<T>, string>['sync']>[0];

/** A subscription, and a callback for its first answer. */
interface Run {
  readonly number: number;
  readonly stop: () => void;
  readonly answered: () => void;
}

/** The documents of a live query as rows of a collection of TanStack DB. */
export class LiveRows<T extends object> {
  private readonly client: Client;
  private readonly query: Expr<Documents<T>>;
  private rows: Rows<T> | undefined = undefined;
  /** What the collection shows: for each document id, the text of the document's data. */
  private shown = new Map<string, string>();
  /** Subscriptions, oldest first. There is one, except while the first answer after a write is awaited: then there are two. */
  private runs: readonly Run[] = [];
  private lastRun = 0;
  /** Callers of `whenCurrent()` for whom no run has started yet. However many write at once, at most two runs are in progress. */
  private waiting: (() => void)[] = [];

  constructor(client: Client, query: Expr<Documents<T>>) {
    this.client = client;
    this.query = query;
  }

  readonly start = (rows: Rows<T>): (() => void) => {
    this.rows = rows;
    this.shown = new Map();
    this.run(() => undefined);
    return () => {
      this.rows = undefined;
      this.endRunsBefore(Infinity);
      this.askAnew();
    };
  };

  /**
   * Resolves when the collection shows everything that is stored by now. The query is subscribed to anew, because none of the answers to a
   * new subscription is older than it. Its first answer ends the previous run, so no older answer follows.
   */
  whenCurrent(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.askAnew();
    });
  }

  private askAnew(): void {
    if (this.waiting.length === 0 || this.runs.length > 1) return;
    const { waiting } = this;
    this.waiting = [];
    const answered = (): void => {
      for (const resolve of waiting) resolve();
    };
    if (this.rows) this.run(answered);
    else answered();
  }

  private run(answered: () => void): void {
    const number = ++this.lastRun;
    const isOver = (): boolean => !this.runs.some((run) => run.number === number);
    const stop = this.client.subscribe(this.query, {
      next: (documents) => {
        if (isOver()) return;
        this.show(documents);
        this.answer(number);
      },
      error: (error) => {
        if (isOver()) return;
        this.fail(error);
        this.answer(number);
      },
      closed: (error) => {
        if (isOver()) return;
        // After the database was locked or closed, its documents are no longer shown.
        this.show([]);
        this.fail(error);
      },
    });
    this.runs = [...this.runs, { number, stop, answered }];
  }

  /** A run has its first answer: ends all earlier runs. */
  private answer(number: number): void {
    this.endRunsBefore(number);
    for (const { answered } of this.runs.filter((run) => run.number === number)) answered();
    this.askAnew();
  }

  private endRunsBefore(number: number): void {
    const ended = this.runs.filter((run) => run.number < number);
    this.runs = this.runs.filter((run) => run.number >= number);
    for (const { stop, answered } of ended) {
      stop();
      answered();
    }
  }

  private fail(error: BurrowError): void {
    this.rows?.markError(error);
  }

  private show(answer: Documents<T>): void {
    const { data: documents = answer, after } = Object(answer) as Partial<Page>;
    if (!areDocuments<T>(documents) || after !== undefined) {
      this.fail(new UsageError(after === undefined ? NO_DOCUMENTS : NOT_ALL));
      return;
    }
    const { begin, write, commit, markReady } = this.rows ?? {};
    if (!begin || !write || !commit || !markReady) return;
    const before = this.shown;
    this.shown = new Map(documents.map(({ ref, data }) => [ref.id, textOf(data)]));
    begin();
    // A query may return a document twice; the collection must contain it once.
    for (const { ref, data } of new Map(documents.map((each) => [each.ref.id, each])).values()) {
      const known = before.get(ref.id);
      if (known === this.shown.get(ref.id)) continue;
      write({ type: known === undefined ? 'insert' : 'update', value: { ...data, id: ref.id } });
    }
    for (const key of before.keys()) if (!this.shown.has(key)) write({ type: 'delete', key });
    // The rows are applied synchronously. The promise is not awaited: it may wait for a write that waits for this method.
    void commit();
    markReady();
  }
}

const NOT_ALL =
  'The query of a collection must show all of its documents: this page has others after it.';
const NO_DOCUMENTS =
  'The query of a collection must answer documents: an array of them, or a page, such as of `Map(page, (ref) => Get(ref))`.';

const areDocuments = <T>(given: unknown): given is readonly StoredDocument<T>[] =>
  Array.isArray(given) &&
  given.every((each) => (each as Partial<StoredDocument<T>> | null)?.ref?.id !== undefined);
