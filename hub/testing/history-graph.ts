/** Directed graphs with several kinds of edges, and the search for cycles in them. */

export type EdgeKind = 'ww' | 'wr' | 'rw' | 'time';

export interface Edge {
  readonly from: number;
  readonly to: number;
  readonly kind: EdgeKind;
}

export class Graph {
  private readonly edges = new Map<number, Edge[]>();

  add(from: number, to: number, kind: EdgeKind): void {
    if (from === to) return;
    const out = this.edges.get(from);
    if (out) out.push({ from, to, kind });
    else this.edges.set(from, [{ from, to, kind }]);
  }

  /**
   * Finds a shortest cycle of these kinds of edges in one of the strongly connected components.
   * @returns undefined if there is none
   */
  cycle(kinds: ReadonlySet<EdgeKind>): readonly Edge[] | undefined {
    const [knot] = this.knots(kinds);
    if (!knot) return undefined;
    let best: readonly Edge[] | undefined;
    for (const start of [...knot].slice(0, STARTS_MAX)) {
      const found = this.path(start, start, kinds, knot);
      if (found && (!best || found.length < best.length)) best = found;
    }
    return best;
  }

  /** Finds a cycle with exactly one edge of the first kind; all others are of the other kinds. */
  cycleWithOne(kind: EdgeKind, others: ReadonlySet<EdgeKind>): readonly Edge[] | undefined {
    for (const knot of this.knots(new Set([...others, kind])))
      for (const from of knot)
        for (const edge of this.edges.get(from) ?? []) {
          if (edge.kind !== kind || !knot.has(edge.to)) continue;
          const back = this.path(edge.to, edge.from, others, knot);
          if (back) return [edge, ...back];
        }
    return undefined;
  }

  /** The shortest path, by breadth-first search. From a node to itself it has at least one edge. */
  private path(
    start: number,
    end: number,
    kinds: ReadonlySet<EdgeKind>,
    within: ReadonlySet<number>,
  ): readonly Edge[] | undefined {
    const cameBy = new Map<number, Edge>();
    const queue = [start];
    for (const node of queue)
      for (const edge of this.edges.get(node) ?? []) {
        if (!kinds.has(edge.kind) || !within.has(edge.to) || cameBy.has(edge.to)) continue;
        cameBy.set(edge.to, edge);
        if (edge.to === end) return wayTo(end, start, cameBy);
        queue.push(edge.to);
      }
    return undefined;
  }

  /** Strongly connected components of more than one node. Tarjan's algorithm without recursion, because histories are long. */
  private knots(kinds: ReadonlySet<EdgeKind>): readonly ReadonlySet<number>[] {
    const found: Set<number>[] = [];
    const number = new Map<number, number>();
    const low = new Map<number, number>();
    const stack: number[] = [];
    const onStack = new Set<number>();
    const enter = (node: number): Visit => {
      number.set(node, number.size);
      low.set(node, number.size - 1);
      stack.push(node);
      onStack.add(node);
      const out = (this.edges.get(node) ?? []).filter(({ kind }) => kinds.has(kind));
      return { node, out, next: 0 };
    };
    const lower = (node: number, to: number | undefined): void => {
      low.set(node, Math.min(low.get(node) ?? 0, to ?? 0));
    };
    for (const root of this.edges.keys()) {
      if (number.has(root)) continue;
      const visits = [enter(root)];
      for (let visit = visits.at(-1); visit; visit = visits.at(-1)) {
        const edge = visit.out[visit.next++];
        if (edge) {
          if (!number.has(edge.to)) visits.push(enter(edge.to));
          else if (onStack.has(edge.to)) lower(visit.node, number.get(edge.to));
          continue;
        }
        visits.pop();
        const parent = visits.at(-1);
        if (parent) lower(parent.node, low.get(visit.node));
        if (low.get(visit.node) !== number.get(visit.node)) continue;
        const knot = new Set(stack.splice(stack.lastIndexOf(visit.node)));
        for (const each of knot) onStack.delete(each);
        if (knot.size > 1) found.push(knot);
      }
    }
    return found;
  }
}

const STARTS_MAX = 64;

interface Visit {
  readonly node: number;
  readonly out: readonly Edge[];
  next: number;
}

function wayTo(end: number, start: number, cameBy: ReadonlyMap<number, Edge>): readonly Edge[] {
  const way: Edge[] = [];
  let edge = cameBy.get(end);
  while (edge) {
    way.unshift(edge);
    if (edge.from === start) break;
    edge = cameBy.get(edge.from);
  }
  return way;
}
