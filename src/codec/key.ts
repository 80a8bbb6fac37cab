/**
 * The only maker of keys. Order of key bytes = order of values (spec values 10); no encoded value is a prefix of another.
 * Register of tags with pinned bytes: docs/store-format.md.
 */
import type { Branded } from '../values/value.ts';

/**
 * Ordered bytes, one character per byte (U+0000…U+00FF), so that `<` on keys is byte order and keys can key a `Map`.
 * Made only here. Store adapters turn it into what their engine orders bytewise.
 */
export type Key = Branded<string, 'Key'>;
