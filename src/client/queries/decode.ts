import { pause } from './pause.ts';
import { parseWire, readingUnder, revive, tagged, withShortRefs, type Reading } from './revive.ts';

/** Replies up to this many characters are parsed at once. */
const SMALL = 65_536;
/** Characters of a larger reply that are parsed at once. */
const PIECE = 16_384;
/** How long decoding may occupy the page before it yields to the event loop, ms. */
const SLICE_MS = 5;

/**
 * Decodes wire JSON text. Integers beyond 2^53 become `bigint`, tags become their values. Large text is decoded in slices, so the page
 * stays responsive.
 */
export function decodeWire(text: string): Promise<unknown> {
  if (text.length > SMALL) return decodeInSlices(text);
  return Promise.resolve(revive(parseWire(withShortRefs(text))));
}

/** @param piece characters parsed at once; no number may be longer */
export const decodeInSlices = (text: string, piece = PIECE): Promise<unknown> =>
  new SliceDecoder(text, piece).decode();

/** A container too large to be parsed at once: it is filled member by member, then added to the container around it. */
interface Open {
  readonly into: unknown[] | Record<string, unknown>;
  readonly reading: Reading;
  /** Key of this container in the container around it. */
  readonly key: string;
}

const QUOTE = 34;
const COMMA = 44;
const BRACKET = 91;
const BRACKET_END = 93;
const BRACE = 123;
const BRACE_END = 125;
const BACKSLASH = 92;

/**
 * Parses runs of neighbouring members together, up to `piece` characters, with the platform's parser. Only a longer member is opened and
 * read member by member.
 */
class SliceDecoder {
  private readonly text: string;
  private readonly piece: number;
  private at = 0;
  private readonly result: unknown[] = [];
  private readonly open: Open[] = [{ into: this.result, reading: 'values', key: '' }];

  constructor(text: string, piece: number) {
    this.text = text;
    this.piece = piece;
  }

  async decode(): Promise<unknown> {
    let sliceEnd = performance.now() + SLICE_MS;
    for (;;) {
      const around = this.open.at(-1);
      if (!around) break;
      this.step(around);
      if (performance.now() < sliceEnd) continue;
      await pause();
      sliceEnd = performance.now() + SLICE_MS;
    }
    return this.result[0];
  }

  private step(around: Open): void {
    if (this.text.charCodeAt(this.at) === COMMA) this.at++;
    const code = this.text.charCodeAt(this.at);
    if (code === BRACKET_END || code === BRACE_END || Number.isNaN(code)) {
      this.at++;
      this.close(around);
      return;
    }
    const end = this.endOfNeighbours();
    if (end === undefined) this.openNext(around);
    else {
      this.takeNeighbours(around, this.text.slice(this.at, end));
      this.at = end;
    }
  }

  private takeNeighbours({ into, reading }: Open, text: string): void {
    const isWire = reading === 'wire';
    if (Array.isArray(into)) {
      const values = parseWire(`[${isWire ? text : withShortRefs(text)}]`, isWire || undefined);
      for (const each of values as unknown[]) into.push(revive(each, isWire ? reading : 'values'));
      return;
    }
    const members = parseWire(`{${text}}`, isWire || undefined);
    for (const [key, each] of Object.entries(members as object)) {
      put(into, key, revive(each, readingUnder(key, reading)));
    }
  }

  /** Reads the next member, which is longer than a piece: opens a container, and takes a scalar at once (its key may be the long part). */
  private openNext({ into, reading }: Open): void {
    let key = '';
    if (!Array.isArray(into)) {
      const end = this.endOfText(this.at);
      key = JSON.parse(this.text.slice(this.at, end)) as string;
      this.at = end + 1;
    }
    const below = Array.isArray(into)
      ? reading === 'wire'
        ? reading
        : 'values'
      : readingUnder(key, reading);
    const code = this.text.charCodeAt(this.at);
    if (code === BRACKET || code === BRACE) {
      this.open.push({ into: code === BRACKET ? [] : {}, reading: below, key });
      this.at++;
      return;
    }
    const end = code === QUOTE ? this.endOfText(this.at) : this.endOfWord(this.at);
    const word = parseWire(this.text.slice(this.at, end), below === 'wire');
    add(into, key, revive(word, below));
    this.at = end;
  }

  private close({ into, reading, key }: Open): void {
    this.open.pop();
    const around = this.open.at(-1);
    if (!around) return;
    const value = Array.isArray(into) || reading !== 'values' ? into : tagged(into);
    add(around.into, key, value);
  }

  /** End of the longest run of members that starts here and fits into a piece. Undefined if the first member is longer than a piece. */
  private endOfNeighbours(): number | undefined {
    const { text } = this;
    const stop = Math.min(this.at + this.piece, text.length);
    let depth = 0;
    let end: number | undefined;
    for (let at = this.at; at < stop; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        for (at++; at < stop && text.charCodeAt(at) !== QUOTE; at++) {
          if (text.charCodeAt(at) === BACKSLASH) at++;
        }
      } else if (code === BRACE || code === BRACKET) depth++;
      else if (code === BRACE_END || code === BRACKET_END) {
        if (depth === 0) return at;
        depth--;
      } else if (code === COMMA && depth === 0) end = at;
    }
    return end;
  }

  /** Position after the number, boolean or null that begins at `start`. */
  private endOfWord(start: number): number {
    let at = start;
    while (at < this.text.length && !',]}'.includes(this.text.charAt(at))) at++;
    return at;
  }

  /** Position after the string that begins at `start`. */
  private endOfText(start: number): number {
    const { text } = this;
    for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
      let before = at - 1;
      while (text.charCodeAt(before) === BACKSLASH) before--;
      if ((at - before) % 2 === 1) return at + 1;
    }
    throw new SyntaxError('The reply of the worker ends inside a string.');
  }
}

function add(into: unknown[] | Record<string, unknown>, key: string, value: unknown): void {
  if (Array.isArray(into)) into.push(value);
  else put(into, key, value);
}

/** Defines an own property, even if its name is `__proto__`. */
export function put(into: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') into[key] = value;
  else
    Object.defineProperty(into, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
}
