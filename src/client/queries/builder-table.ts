import { ROWS } from './builder-rows.ts';

/**
 * The table of the builders that only put their arguments under keys of an object. A row has the builder's name, then one word per
 * argument. `npm run docs` generates the rows from the functions (`src/reference/builder-rows.ts`). The first key is the builder's name in
 * snake case, unless the row gives another one (`IsNonEmpty=is_nonempty`).
 *
 * | mark on a word | the argument |
 * |---|---|
 * | none | is required |
 * | `?` | is left out when absent or null |
 * | `~` | is left out when absent |
 * | `!` | is null when absent |
 * | `-` | does not exist: the key is null |
 * | `*` | consists of all remaining arguments: one as it is, several as an array |
 *
 * `%` after the name: the first two arguments are in reverse order. `+`: surplus arguments are ignored.
 */
export type Mark = '' | '?' | '~' | '!' | '-' | '*';

export interface BuilderRow {
  readonly name: string;
  /** In the order of the wire form. */
  readonly keys: readonly { readonly key: string; readonly mark: Mark }[];
  readonly swapped: boolean;
  readonly min: number;
  readonly max: number;
}

const ROW = /^(\w+?)(?:=(\w+))?([%+]?)([?~!*-]?)$/;

const rowOf = (text: string): BuilderRow => {
  const [head = '', ...rest] = text.split(' ');
  const [, name = '', named, order, mark = ''] = ROW.exec(head) ?? [];
  const first = named ?? name.replace(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase();
  const keys = [first + mark, ...rest].map((word) => {
    const [, key = '', mark = ''] = /^(\w+)(.?)$/.exec(word) ?? [];
    return { key, mark: mark as Mark };
  });
  const required = keys.filter(({ mark }) => mark === '').length;
  const any = order === '+' || keys.some(({ mark }) => mark === '*');
  return {
    name,
    keys,
    swapped: order === '%',
    min: mark === '*' ? 1 : required,
    max: any ? Infinity : mark === '-' ? 0 : keys.length,
  };
};

export const rowsIn = (text: string): readonly BuilderRow[] => text.split(/,\s*/).map(rowOf);

export const BUILDER_ROWS = rowsIn(ROWS);
