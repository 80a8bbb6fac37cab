/** Reads exports, and checks that nothing in them is missing or changed. */
import { JsonError, parseJson, type JsonObject } from '../codec/json.ts';
import { DataError } from './data-error.ts';
import { LinesDigest } from './digest.ts';
import { readHeader, trailerIn, type ExportTrailer } from './format.ts';
import {
  DOCUMENT_ID,
  documentIdIn,
  paramsText,
  tsTextIn,
  type DocumentItem,
  type Item,
  type VersionItem,
} from './items.ts';
import type { Line } from './lines.ts';
import { schemaIn } from './schema.ts';
import { collectionOfRef, idOfRef, isObject, without } from './wire.ts';

/** @throws DataError at the first problem; a missing or changed line may be noticed only at the end */
export async function* exportItems(lines: AsyncIterable<Line>): AsyncGenerator<Item> {
  const digest = new LinesDigest();
  let trailer: ExportTrailer | undefined;
  // A line that cannot be read was cut if it is the last one.
  let unread: unknown;
  for await (const { number, text } of lines) {
    if (unread) throw unread;
    if (trailer)
      throw new DataError('damaged', 'More follows the end of the export.', {
        line: number,
      });
    if (number === 1) yield { type: 'header', header: readHeader(text) };
    else {
      let json: JsonObject;
      try {
        json = objectIn(text, number);
      } catch (reason) {
        unread = reason;
        continue;
      }
      trailer = trailerIn(json);
      if (!trailer) yield itemIn(json, number);
    }
    if (!trailer) await digest.add(text);
  }
  if (!trailer) {
    const sentence = `The export is cut short: it ends after ${digest.lines} lines.`;
    throw new DataError('incomplete', sentence);
  }
  if (trailer.lines !== digest.lines) {
    const sentence = `The export had ${trailer.lines} lines when it was made, and has ${digest.lines}.`;
    throw new DataError('incomplete', sentence);
  }
  if ((await digest.end()) !== trailer.sha256)
    throw new DataError('damaged', 'Lines of the export were changed after it was made.');
}

/** @throws DataError `invalid_line` */
export function objectIn(text: string, line: number): JsonObject {
  try {
    const json = parseJson(text);
    if (isObject(json)) return json;
  } catch (cause) {
    const isTooBig = cause instanceof JsonError && cause.reason === 'integer range';
    const sentence = isTooBig
      ? 'It holds an integer that does not fit into 64 bits.'
      : 'It is not JSON, or is nested too deeply.';
    throw new DataError('invalid_line', sentence, { line, cause });
  }
  throw new DataError('invalid_line', 'It is not a JSON object.', { line });
}

function itemIn(json: JsonObject, line: number): Item {
  const object = schemaIn(json, line);
  if (object) return { type: 'schema', object };
  const version = json.get('version');
  if (isObject(version)) return versionIn(version, json.get('deleted') === true, line);
  const gone = json.get('gone');
  if (gone === undefined) return documentIn(json, line);
  const { collection, id } = documentIn(new Map([['ref', gone]]), line);
  return { type: 'gone', line, collection, id };
}

/** Reads a document in the form in which `Get` returns it. @throws DataError `invalid_line` */
export function documentIn(json: JsonObject, line: number): DocumentItem {
  const ref = json.get('ref');
  const [collection, id, ts] = [collectionOfRef(ref), idOfRef(ref), tsTextIn(json.get('ts'))];
  if (collection === undefined || id === undefined)
    throw new DataError('invalid_line', 'It has no `ref` of a document.', { line });
  if (documentIdIn(id) === undefined)
    throw new DataError('invalid_line', `The id '${id.slice(0, 60)}' is not ${DOCUMENT_ID}.`, {
      line,
    });
  const ttl = json.get('ttl') ?? null;
  if (ttl !== null && !(isObject(ttl) && ttl.has('@ts')))
    throw new DataError('invalid_line', 'Its `ttl` must be a time: {"@ts":"…"}.', { line });
  const params = paramsText(without(json, 'ref', 'ts'));
  const hasTtl = ttl !== null;
  return { type: 'document', line, collection, id, ts, params, hasTtl, isRow: false };
}

function versionIn(json: JsonObject, isEnd: boolean, line: number): VersionItem {
  const { collection, id, ts, params } = documentIn(json, line);
  if (ts === undefined) throw new DataError('invalid_line', 'It has no `ts`.', { line });
  return { type: 'version', line, collection, id, ts, params, isEnd };
}
