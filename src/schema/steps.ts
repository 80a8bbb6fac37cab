/** Data steps: changes of documents that belong to a version of the schema. */
import { isExpr } from '../client/queries/is-expr.ts';
import { q, type Arg, type Expr, type Page } from '../index.ts';
import { RECORD, type SchemaRecord } from './state.ts';

/** A step that writes each document of a collection, in transactions of `size` documents: returned by `schema.each()`. */
export interface EachDocument {
  readonly collection: string;
  /** Returns an expression that writes, for a document. */
  readonly write: (document: Expr<never>) => unknown;
  /** How many documents a transaction changes. */
  readonly size: number;
}

/** An expression that runs in one transaction, or a step in many transactions over a collection. */
export type DataStep = Expr | EachDocument;

/** The next part of a step, and the progress after it, in one transaction. */
export function pieceOf(step: DataStep, at: number, record: SchemaRecord): Expr {
  const done = q.Update(RECORD, { data: { step: at, cursor: null, began: null, documents: 0 } });
  if (isExpr(step)) return q.Do(step, done, true);
  const { collection, write, size } = step;
  const stored = q.Paginate(q.Documents(q.Collection(collection)), {
    size,
    after: record.cursor ?? undefined,
  });
  // Names that no lambda of an app has.
  const page = q.Var<unknown>('burrow_page');
  const ref = q.Var('burrow_ref');
  const after = q.Select('after', page, null);
  const piece = q.Let(
    {
      burrow_new: q.NewId(),
      burrow_page:
        record.began === null ? stored : presentAtBegin(stored, record.began, collection),
    },
    q.Do(
      q.Foreach(
        q.Select('data', page),
        q.Lambda(
          'burrow_ref',
          // The write for one document may have deleted another one.
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
            began: record.cursor === null ? q.Var('burrow_new') : record.began,
            documents: q.Add(record.documents, q.Count(q.Select('data', page))),
          },
        }),
      ),
      true,
    ),
  );
  // In a database that has skipped versions, the collection may not exist.
  return q.If(q.Exists(q.Collection(collection)), piece, q.Do(done, true));
}

/**
 * A page without the documents that were created since the step began: the step may have created them, and would never end. Generated ids
 * grow with time; ids from elsewhere may be later than all of them.
 */
const presentAtBegin = (page: Expr<Page>, began: string, collection: string): Expr => {
  const refOf = (id: Arg): Expr => q.Ref(q.Collection(collection), id);
  const ref = q.Var('burrow_ref');
  const isPresent = q.Or(q.LTE(ref, refOf(began)), q.GT(ref, refOf(q.Var('burrow_new'))));
  return q.Filter(page, q.Lambda('burrow_ref', isPresent));
};

/** Wraps any argument that a builder accepts. */
const wrapped = (value: unknown): Expr => q.Do(value as Expr);
