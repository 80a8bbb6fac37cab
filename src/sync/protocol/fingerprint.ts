/**
 * A fingerprint of many documents: for each of 256 buckets, two sums modulo 2^32 of hashes of document and time. It does not depend on the
 * order of the documents, and differs if one is missing, extra or of another time. It detects errors but is no protection against forgery.
 */
import type { DatedDocument, DocumentName } from './identifiers.ts';
import { FINGERPRINT_BUCKETS } from './messages.ts';

export class Fingerprint {
  private readonly high = new Uint32Array(FINGERPRINT_BUCKETS);
  private readonly low = new Uint32Array(FINGERPRINT_BUCKETS);

  add(document: DatedDocument): void {
    const [collection, id, ts] = document;
    const bucket = bucketOf(document);
    const text = `${collection}/${id}@${ts}`;
    this.high[bucket] = (this.high[bucket] ?? 0) + hash(text, HIGH_SEED);
    this.low[bucket] = (this.low[bucket] ?? 0) + hash(text, LOW_SEED);
  }

  /** The sums of each bucket, as 16 hexadecimal digits. */
  buckets(): readonly string[] {
    return Array.from(this.high, (high, i) => digits(high) + digits(this.low[i] ?? 0));
  }
}

export const bucketOf = ([collection, id]: DocumentName | DatedDocument): number =>
  hash(`${collection}/${id}`, BUCKET_SEED) % FINGERPRINT_BUCKETS;

const HIGH_SEED = 0x9e3779b9;
const LOW_SEED = 0x85ebca6b;
const BUCKET_SEED = 0xc2b2ae35;

/** FNV-1a over UTF-16 code units, then the finalizer of MurmurHash 3, so that every bit of the result depends on every bit of the state. */
function hash(text: string, seed: number): number {
  let state = 0x811c9dc5 ^ seed;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  state ^= state >>> 16;
  state = Math.imul(state, 0x85ebca6b);
  state ^= state >>> 13;
  state = Math.imul(state, 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}

const digits = (sum: number): string => sum.toString(16).padStart(8, '0');
