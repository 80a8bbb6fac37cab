/** Changes of documents that go with a version of the schema. */
import { isExpr } from '../client/queries/is-expr.ts';
import { q, type Expr } from '../index.ts';
import { RECORD, type SchemaRecord } from './state.ts';

/** Each document of a collection, in transactions of `size` documents: made by `schema.each()`. */
export interface EachDocument {
  readonly collection: string;
  /** What is done with a document: an expression that writes. */
  readonly write: (document: Expr<never>) => unknown;
  /** How many documents a transaction changes. */
  readonly size: number;
}

/** One transaction, or many over a collection. */
export type DataStep = Expr | EachDocument;

/** The next piece of a step and how far it is then, in one transaction. */
export function pieceOf(step: DataStep, at: number, record: SchemaRecord): Expr {
  const done = q.Update(RECORD, { data: { step: at, cursor: null, documents: 0 } });
  if (isExpr(step)) return q.Do(step, done, true);
  const { collection, write, size } = step;
  const documents = q.Documents(q.Collection(collection));
  // Names that no lambda of an app has.
  const page = q.Var<unknown>('burrow_page');
  const ref = q.Var('burrow_ref');
  const after = q.Select('after', page, null);
  const piece = q.Let(
    { burrow_page: q.Paginate(documents, { size, after: record.cursor ?? undefined }) },
    q.Do(
      q.Foreach(
        q.Select('data', page),
        q.Lambda(
          'burrow_ref',
          // What is done with one document may delete another.
          q.If(
            q.Exists(ref),
            q.Let({ burrow_document: q.Get(ref) }, wrapped(write(q.Var('burrow_document')))),
            null,
          ),
        ),
      ),
      q.If(
        q.IsNull(after),
        done,
        q.Update(RECORD, {
          data: {
            cursor: after,
            documents: q.Add(record.documents, q.Count(q.Select('data', page))),
          },
        }),
      ),
      true,
    ),
  );
  // A database that has skipped versions may never have had it, or no longer.
  return q.If(q.Exists(q.Collection(collection)), piece, q.Do(done, true));
}

/** Whatever a builder takes. */
const wrapped = (value: unknown): Expr => q.Do(value as Expr);
