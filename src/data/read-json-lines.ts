/** Reads JSON lines: documents of one collection, either their data or as `Get` returns them. */
import type { JsonObject } from '../codec/json.ts';
import { DataError } from './data-error.ts';
import { isExport } from './format.ts';
import {
  dataParams,
  DOCUMENT_ID,
  documentIdIn,
  idOfLine,
  type DocumentItem,
  type Item,
} from './items.ts';
import type { Line } from './lines.ts';
import { documentIn, objectIn } from './read-export.ts';
import { collectionOfRef, without } from './wire.ts';

export interface RowOptions {
  readonly collection: string;
  /** Member or column that holds the id of the document. Without it, ids are computed from the lines and their numbers. */
  readonly id?: string;
}

export async function* jsonLinesItems(
  lines: AsyncIterable<Line>,
  options: RowOptions,
): AsyncGenerator<Item> {
  for await (const line of lines) {
    if (line.text.trim() === '') continue;
    if (line.number === 1 && isExport(line.text)) throw new DataError('invalid_option', EXPORT);
    const json = objectIn(line.text, line.number);
    yield isDocument(json)
      ? ownDocument(documentIn(json, line.number), options)
      : await rowItem(json, line, options);
  }
}

const EXPORT =
  'The source is an export of a database, with schema and documents: leave out `format`, `collection` and `id`.';

const DOCUMENT_MEMBERS = new Set(['ref', 'ts', 'data', 'ttl', 'permissions']);

const isDocument = (json: JsonObject): boolean =>
  collectionOfRef(json.get('ref')) !== undefined &&
  [...json.keys()].every((name) => DOCUMENT_MEMBERS.has(name));

function ownDocument(item: DocumentItem, { collection }: RowOptions): DocumentItem {
  if (item.collection === collection) return item;
  const sentence = `It is a document of '${item.collection}', not of '${collection}'.`;
  throw new DataError('invalid_line', sentence, { line: item.line });
}

/** Makes a document of a row. @throws DataError `invalid_line` */
export async function rowItem(
  row: JsonObject,
  { number: line, text }: Line,
  { collection, id: named }: RowOptions,
): Promise<DocumentItem> {
  const id =
    named === undefined ? await idOfLine(collection, line, text) : documentIdIn(row.get(named));
  if (id === undefined) {
    const sentence = `'${named}' must hold the id of the document, ${DOCUMENT_ID}.`;
    throw new DataError('invalid_line', sentence, { line });
  }
  const params = dataParams(named === undefined ? row : without(row, named));
  const document = { collection, id, ts: undefined, params, hasTtl: false, isRow: true };
  return { type: 'document', line, ...document };
}
