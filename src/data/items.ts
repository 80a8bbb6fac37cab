/** What sources are read as, whatever their format. */
import { stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import { INT64_MAX } from '../values/number.ts';
import { sha256Hex } from './digest.ts';
import type { ExportHeader } from './format.ts';
import type { SchemaObject } from './schema.ts';
import { documentRefText, expressionOf, without } from './wire.ts';

export interface DocumentItem {
  readonly type: 'document';
  /** Of the source, from 1. */
  readonly line: number;
  readonly collection: string;
  readonly id: string;
  /** Time of its last change, in µs, as text; undefined: it gets the one of the import. */
  readonly ts: string | undefined;
  /** Expression of its fields. */
  readonly params: string;
  readonly hasTtl: boolean;
  /** Its line has its data alone. */
  readonly isRow: boolean;
}

/** A version before the present one. */
export interface VersionItem {
  readonly type: 'version';
  readonly line: number;
  readonly collection: string;
  readonly id: string;
  readonly ts: string;
  readonly params: string;
  /** The document ended then. */
  readonly isEnd: boolean;
}

/** A document whose versions end with its deletion. */
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

/** What has a ref. */
export type Placed = Pick<DocumentItem, 'collection' | 'id'>;

export const refTextOf = ({ collection, id }: Placed): string => documentRefText(collection, id);

/** What `documentIdIn()` takes, in words. */
export const DOCUMENT_ID = `a whole number from 0 to ${INT64_MAX}`;

/** Of an integer or text; undefined: it is no id of a document. */
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

const NO_MEMBERS = '{"object":{}}';

/** A document in wire form, without its ref and time. Data without members is left out, as where it is stored. */
export function paramsText(fields: JsonObject): string {
  const isEmpty = expressionOf(fields.get('data') ?? null) === NO_MEMBERS;
  return expressionOf(isEmpty ? without(fields, 'data') : fields);
}

export const dataParams = (data: JsonObject): string => paramsText(new Map([['data', data]]));

export const tsTextIn = (json: Json | undefined): string | undefined =>
  typeof json === 'number' || typeof json === 'bigint' ? stringifyJson(json) : undefined;
