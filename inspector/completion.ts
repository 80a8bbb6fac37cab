/** Completions for the word at the caret: functions of the language, and names in the database. */
import { callAt, endOfText } from './fql/caret.ts';
import { builderNames } from './fql/build.ts';
import type { SchemaInfo } from './schema.ts';

export interface Completion {
  /** The text that is shown. */
  readonly label: string;
  /** The text that replaces everything from `start` to the caret. */
  readonly insert: string;
  readonly start: number;
}

const SHOWN_MAX = 8;
const WORD = /[A-Za-z]\w*$/;

export function completionsAt(
  text: string,
  caret: number,
  schema: SchemaInfo,
): readonly Completion[] {
  const before = text.slice(0, caret);
  const names = namesFor(callAt(before, caret), schema);
  const opened = openString(before);
  if (opened !== undefined) {
    const quote = before.charAt(opened);
    return starting(names ?? [], before.slice(opened + 1)).map((label) => ({
      label,
      insert: text.charAt(caret) === quote ? label : label + quote,
      start: opened + 1,
    }));
  }
  const [word] = WORD.exec(before) ?? [];
  if (word === undefined) {
    // After an opening parenthesis, completions are names with quotes.
    if (!names || !before.endsWith('(')) return [];
    return names
      .slice(0, SHOWN_MAX)
      .map((label) => ({ label, insert: JSON.stringify(label), start: caret }));
  }
  const found = starting(builderNames, word);
  if (found.length === 1 && found[0] === word) return [];
  return found.map((label) => ({ label, insert: `${label}(`, start: caret - word.length }));
}

/** Position at which an unclosed string begins. */
function openString(text: string): number | undefined {
  for (let at = 0; at < text.length;) {
    const end = endOfText(text, at);
    if (end > text.length) return at;
    at = Math.max(end, at + 1);
  }
  return undefined;
}

const starting = (names: readonly string[], start: string): readonly string[] =>
  names.filter((name) => name.toLowerCase().startsWith(start.toLowerCase())).slice(0, SHOWN_MAX);

function namesFor(call: string | undefined, schema: SchemaInfo): readonly string[] | undefined {
  if (call === 'Collection') return schema.collections;
  if (call === 'Index') return schema.indexes.map(({ name }) => name);
  return call === 'Function' || call === 'Call' ? schema.functions : undefined;
}
