/** What the readers of all formats turn sources into. */
import { stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import { INT64_MAX } from '../values/number.ts';
import { sha256Hex } from './digest.ts';
import type { ExportHeader } from './format.ts';
import type { SchemaObject } from './schema.ts';
import { documentRefText, expressionOf, withoutEmpty } from './wire.ts';

export interface DocumentItem {
  readonly type: 'document';
  /** Line in the source, from 1. */
  readonly line: number;
  readonly collection: string;
  readonly id: string;
  /** Time of the document's last change, µs, as text; undefined if it gets the time of the import. */
  readonly ts: string | undefined;
  /** Wire text of an expression with the document's fields. */
  readonly params: string;
  readonly hasTtl: boolean;
  /** Whether the line has only the data of the document. */
  readonly isRow: boolean;
}

/** An earlier version of a document. */
export interface VersionItem {
  readonly type: 'version';
  readonly line: number;
  readonly collection: string;
  readonly id: string;
  readonly ts: string;
  readonly params: string;
  /** Whether the document was deleted at this time. */
  readonly isEnd: boolean;
}

/** A document whose last version is its deletion. */
export interface GoneItem {
  readonly type: 'gone';
  readonly line: number;
  readonly collection: string;
  readonly id: string;
}

export type Item =
  | { readonly type: 'header'; readonly header: ExportHeader }
  | { readonly type: 'schema'; readonly object: SchemaObject }
  | DocumentItem
  | VersionItem
  | GoneItem;

/** Anything with a ref. */
export type Placed = Pick<DocumentItem, 'collection' | 'id'>;

export const refTextOf = ({ collection, id }: Placed): string => documentRefText(collection, id);

/** Describes what `documentIdIn()` accepts. */
export const DOCUMENT_ID = `a whole number from 0 to ${INT64_MAX}`;

/** The id in an integer or a string; undefined if it is not a valid id of a document. */
export function documentIdIn(json: Json | undefined): string | undefined {
  const text = typeof json === 'number' || typeof json === 'bigint' ? String(json) : json;
  const isId = typeof text === 'string' && /^\d{1,19}$/.test(text) && BigInt(text) <= INT64_MAX;
  return isId ? text : undefined;
}

/** The same line at the same place of a source gets the same id, so that an import can be run again. */
export async function idOfLine(collection: string, line: number, text: string): Promise<string> {
  const hex = await sha256Hex(new TextEncoder().encode(`${collection}\n${line}\n${text}`));
  return String(BigInt(`0x${hex.slice(0, 16)}`) >> 1n);
}

/** The fields of a document in wire form, without its ref and time. */
export const paramsText = (fields: JsonObject): string => expressionOf(withoutEmpty(fields));

export const dataParams = (data: JsonObject): string => paramsText(new Map([['data', data]]));

export const tsTextIn = (json: Json | undefined): string | undefined =>
  typeof json === 'number' || typeof json === 'bigint' ? stringifyJson(json) : undefined;
