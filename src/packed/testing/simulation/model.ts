/** The model: a plain map for every state of the store, named by the write that made it. */
import { keyOfBytes, type Key } from '../../../codec/key.ts';
import type { Entry, Range, Row, WriteSet } from '../../../store/port.ts';

/** The rows of a space that has entries. The head row is stored in another space. */
export type State = ReadonlyMap<Key, Row>;

interface Made {
  readonly state: State;
  readonly depth: number;
  readonly base: string | undefined;
}

export class Model {
  private readonly made = new Map<string, Made>();
  /** Writes that were acknowledged, and the greatest depth among them. */
  readonly acknowledged = new Set<string>();
  acknowledgedDepth = 0;
  /** States that a read has returned. */
  private readonly shown = new Set<string>();

  constructor() {
    this.made.set(NOTHING, { state: new Map(), depth: 0, base: undefined });
  }

  /** @throws when no write had that name */
  state(name: string): State {
    return this.get(name).state;
  }

  depth(name: string): number {
    return this.get(name).depth;
  }

  /** Records that a body has made these writes on the state `base`. Whether they are committed becomes known later. */
  offer(name: string, base: string, { puts, deletes }: WriteSet): void {
    const state = new Map(this.state(base));
    for (const { key } of deletes) state.delete(key);
    for (const { row } of puts) state.set(row.key, row);
    this.made.set(name, { state, depth: this.depth(base) + 1, base });
  }

  acknowledge(name: string): void {
    this.acknowledged.add(name);
    this.acknowledgedDepth = Math.max(this.acknowledgedDepth, this.depth(name));
  }

  show(name: string): void {
    if (name !== NOTHING) this.shown.add(name);
  }

  /** Returns the acknowledged or shown writes that this state does not include. */
  lost(name: string): readonly string[] {
    const behind = new Set<string>();
    for (let each: string | undefined = name; each !== undefined; each = this.get(each).base)
      behind.add(each);
    return [...this.acknowledged, ...this.shown].filter((each) => !behind.has(each));
  }

  private get(name: string): Made {
    const made = this.made.get(name);
    if (!made) throw new Error(`no write was called ${name}`);
    return made;
  }
}

/** The name of the state before the first write. */
export const NOTHING = 'nothing';

export const HEAD_KEY = keyOfBytes('head');

export function modelRange(
  state: State,
  { by, lower, upper, reverse, limit, rows }: Omit<Range, 'space'>,
): Entry[] {
  const all = [...state.values()].flatMap((row) =>
    (by === 'key' ? [row.key] : row.entries).map((entry) => ({
      entry,
      key: row.key,
      row: rows ? row : undefined,
    })),
  );
  all.sort((a, b) => (a.entry === b.entry ? compare(a.key, b.key) : compare(a.entry, b.entry)));
  if (reverse) all.reverse();
  return all.filter(({ entry }) => entry >= lower && entry < upper).slice(0, limit);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
