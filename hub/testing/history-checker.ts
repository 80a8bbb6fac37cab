/**
 * Checks what clients saw of a database: could their transactions have been executed one after the other, in an order that
 * respects real time? The method is that of Elle: lists that only grow reveal the order of their appends, so each read shows
 * which writes came before it.
 */
import { Graph, type Edge, type EdgeKind } from './history-graph.ts';

export type Step =
  | { readonly kind: 'append'; readonly key: string; readonly value: number }
  | { readonly kind: 'read'; readonly key: string; readonly values: readonly number[] };

/** One transaction as its client saw it. Each value is appended only once in the whole history. */
export interface Operation {
  readonly id: number;
  /**
   * The process that executed the operation. Operations of a process do not overlap. After an unknown outcome, the client
   * continues as a new process.
   */
  readonly process: number;
  /** Times of one monotonic clock that all processes share. */
  readonly invoked: number;
  readonly completed: number;
  /** `info`: unknown whether the transaction was committed. Reads only count if the outcome is `ok`. */
  readonly outcome: 'ok' | 'fail' | 'info';
  readonly steps: readonly Step[];
}

export interface Anomaly {
  readonly kind:
    | 'duplicate'
    | 'aborted read'
    | 'unwritten read'
    | 'intermediate read'
    | 'internal'
    | 'incompatible order'
    | 'lost append'
    | 'G0'
    | 'G1c'
    | 'G-single'
    | 'G2'
    | 'not in real time';
  readonly description: string;
}

/** @param final the lists as read after all operations */
export function checkAppends(
  history: readonly Operation[],
  final: ReadonlyMap<string, readonly number[]>,
): readonly Anomaly[] {
  const writers = writersIn(history);
  const reads = readsIn(history);
  const orders = ordersIn(reads, final);
  const direct = [
    ...reads.flatMap((read) => wrongRead(read, writers)),
    ...history.filter(({ outcome }) => outcome === 'ok').flatMap(wrongInside),
    ...reads.flatMap((read) => wrongOrder(read, orders)),
    ...lostAppends(history, final),
  ];
  // If the orders of the lists contradict each other, a graph built from them would be meaningless.
  return direct.length > 0 ? direct : cycles(history, reads, orders, writers);
}

interface Read {
  readonly by: Operation;
  readonly key: string;
  /** Without the values that the reader had appended itself. */
  readonly values: readonly number[];
}

/** The lists that each transaction read, without its own appends. */
function readsIn(history: readonly Operation[]): readonly Read[] {
  return history.flatMap((by) => {
    if (by.outcome !== 'ok') return [];
    const own = new Set(by.steps.flatMap((each) => (each.kind === 'append' ? [each.value] : [])));
    return by.steps.flatMap((step) =>
      step.kind === 'read'
        ? [{ by, key: step.key, values: step.values.filter((value) => !own.has(value)) }]
        : [],
    );
  });
}

interface Writer {
  readonly by: Operation;
  readonly key: string;
  /** Whether the transaction appends nothing to the same list afterwards. */
  readonly isLast: boolean;
}

function writersIn(history: readonly Operation[]): ReadonlyMap<number, Writer> {
  const writers = new Map<number, Writer>();
  for (const by of history) {
    const appended = by.steps.filter((each) => each.kind === 'append');
    for (const [i, { key, value }] of appended.entries()) {
      const isLast = !appended.slice(i + 1).some((later) => later.key === key);
      writers.set(value, { by, key, isLast });
    }
  }
  return writers;
}

function wrongRead(
  { by, key, values }: Read,
  writers: ReadonlyMap<number, Writer>,
): readonly Anomaly[] {
  const found: Anomaly[] = [];
  const say = (kind: Anomaly['kind'], what: string): void => {
    found.push({ kind, description: `${by.id} read [${values.join(' ')}] of ${key}: ${what}` });
  };
  if (new Set(values).size < values.length) say('duplicate', 'a value is there twice');
  for (const value of values) {
    const writer = writers.get(value);
    if (writer?.key !== key) say('unwritten read', `nobody appended ${value} to it`);
    else if (writer.by.outcome === 'fail') say('aborted read', `${writer.by.id} was refused`);
  }
  const last = values.at(-1);
  const writer = last === undefined ? undefined : writers.get(last);
  if (writer && !writer.isLast && writer.by.id !== by.id)
    say('intermediate read', `${writer.by.id} appended more in the same transaction`);
  return found;
}

/** Checks each transaction alone: it must see what it has read and appended so far. */
function wrongInside({ id, steps }: Operation): readonly Anomaly[] {
  const known = new Map<string, readonly number[]>();
  const appended = new Map<string, readonly number[]>();
  const found: Anomaly[] = [];
  for (const step of steps) {
    const { key } = step;
    const before = known.get(key);
    if (step.kind === 'append') {
      if (before) known.set(key, [...before, step.value]);
      appended.set(key, [...(appended.get(key) ?? []), step.value]);
      continue;
    }
    const own = appended.get(key) ?? [];
    const expected = before ?? [...step.values.slice(0, step.values.length - own.length), ...own];
    if (expected.join() !== step.values.join())
      found.push({
        kind: 'internal',
        description: `${id} read [${step.values.join(' ')}] of ${key} where it had [${expected.join(' ')}]`,
      });
    known.set(key, step.values);
  }
  return found;
}

/** For each list, the longest version that was seen. */
function ordersIn(
  reads: readonly Read[],
  final: ReadonlyMap<string, readonly number[]>,
): ReadonlyMap<string, readonly number[]> {
  const orders = new Map(final);
  for (const { key, values } of reads)
    if (values.length > (orders.get(key)?.length ?? 0)) orders.set(key, values);
  return orders;
}

function wrongOrder(
  { by, key, values }: Read,
  orders: ReadonlyMap<string, readonly number[]>,
): readonly Anomaly[] {
  const order = orders.get(key) ?? [];
  if (values.every((value, i) => value === order[i])) return [];
  const description = `${by.id} read [${values.join(' ')}] of ${key}, others [${order.join(' ')}]`;
  return [{ kind: 'incompatible order', description }];
}

function lostAppends(
  history: readonly Operation[],
  final: ReadonlyMap<string, readonly number[]>,
): readonly Anomaly[] {
  const kept = new Map([...final].map(([key, values]) => [key, new Set(values)]));
  return history.flatMap(({ id, outcome, steps }) =>
    steps.flatMap((step) =>
      outcome === 'ok' && step.kind === 'append' && !kept.get(step.key)?.has(step.value)
        ? [
            {
              kind: 'lost append' as const,
              description: `${id} appended ${step.value} to ${step.key}, was told so, and it is not there`,
            },
          ]
        : [],
    ),
  );
}

function cycles(
  history: readonly Operation[],
  reads: readonly Read[],
  orders: ReadonlyMap<string, readonly number[]>,
  writers: ReadonlyMap<number, Writer>,
): readonly Anomaly[] {
  const graph = new Graph();
  const writer = (value: number | undefined): number | undefined =>
    value === undefined ? undefined : writers.get(value)?.by.id;
  const link = (from: number | undefined, to: number | undefined, kind: EdgeKind): void => {
    if (from !== undefined && to !== undefined) graph.add(from, to, kind);
  };
  for (const order of orders.values())
    for (const [i, value] of order.entries()) link(writer(order[i - 1]), writer(value), 'ww');
  for (const { by, key, values } of reads) {
    link(writer(values.at(-1)), by.id, 'wr');
    link(by.id, writer(orders.get(key)?.[values.length]), 'rw');
  }
  linkInTime(graph, history);
  const kinds = (...names: EdgeKind[]): ReadonlySet<EdgeKind> => new Set(names);
  const looks: readonly [Anomaly['kind'], () => readonly Edge[] | undefined][] = [
    ['G0', () => graph.cycle(kinds('ww'))],
    ['G1c', () => graph.cycle(kinds('ww', 'wr'))],
    ['G-single', () => graph.cycleWithOne('rw', kinds('ww', 'wr'))],
    ['G2', () => graph.cycle(kinds('ww', 'wr', 'rw'))],
    ['not in real time', () => graph.cycle(kinds('ww', 'wr', 'rw', 'time'))],
  ];
  for (const [kind, look] of looks) {
    const cycle = look();
    if (cycle) return [{ kind, description: described(cycle, history) }];
  }
  return [];
}

/**
 * Adds edges of real time: an operation that ended before another began comes first. Only the most recently ended operations are
 * linked; earlier ones are linked to those.
 */
function linkInTime(graph: Graph, history: readonly Operation[]): void {
  const done = history.filter(({ outcome }) => outcome === 'ok');
  const events = [
    ...done.map((by) => ({ at: by.completed, by, isEnd: true })),
    ...history
      .filter(({ outcome }) => outcome !== 'fail')
      .map((by) => ({ at: by.invoked, by, isEnd: false })),
  ].toSorted((a, b) => a.at - b.at || Number(a.isEnd) - Number(b.isEnd));
  let latest: readonly Operation[] = [];
  const before = new Map<number, readonly Operation[]>();
  for (const { by, isEnd } of events) {
    if (isEnd) {
      const overtaken = new Set(before.get(by.id));
      latest = [...latest.filter((each) => !overtaken.has(each)), by];
      continue;
    }
    before.set(by.id, latest);
    for (const each of latest) graph.add(each.id, by.id, 'time');
  }
}

function described(cycle: readonly Edge[], history: readonly Operation[]): string {
  const byId = new Map(history.map((each) => [each.id, each]));
  const steps = (id: number): string =>
    (byId.get(id)?.steps ?? [])
      .map((step) =>
        step.kind === 'append'
          ? `${step.key}+${step.value}`
          : `${step.key}=[${step.values.join(' ')}]`,
      )
      .join(', ');
  return cycle.map(({ from, to, kind }) => `${from} (${steps(from)}) -${kind}-> ${to}`).join('; ');
}
