/** What a tree may do, known before it runs: for limits that are checked when something is stored. Spec: functions 2 and 4.5. */
import { fault, QueryFailure, type Fault } from '../errors.ts';
import { EFFECT_RANK } from './effect.ts';
import { positionOf } from './query-path.ts';
import type { Effect } from './effect.ts';
import type { Node, NodeOf } from './node.ts';

/**
 * Fails when `node` holds a form that does more than is allowed; all such forms are reported. Calls of functions count as writes.
 * @throws QueryFailure `invalid expression`
 */
export function checkEffect(node: Node, allows: Effect, placeName: string): void {
  const faults: Fault[] = [];
  visit(node);
  if (faults.length > 0) throw new QueryFailure(faults);

  function visit(each: Node): void {
    if (EFFECT_RANK[each.effect] <= EFFECT_RANK[allows]) return;
    if (each.kind === 'call' && EFFECT_RANK[each.row.declared] > EFFECT_RANK[allows]) {
      const description = `Call performs a ${each.row.declared}, which is not allowed in ${placeName}.`;
      faults.push(fault('invalid expression', positionOf(each.path), description));
    }
    childrenOf(each).forEach(visit);
  }
}

type ChildrenByKind = { readonly [K in Node['kind']]: (node: NodeOf<K>) => readonly Node[] };

const itemsOf = (node: { readonly items: readonly Node[] }): readonly Node[] => node.items;

const CHILDREN: ChildrenByKind = {
  constant: () => [],
  literal: () => [],
  var: () => [],
  // A lambda that becomes a value is checked where it is applied.
  query: () => [],
  array: itemsOf,
  object: (node) => node.members.map(([, member]) => member),
  let: (node) => [...node.bindings, node.body],
  if: (node) => [node.condition, node.whenTrue, node.whenFalse],
  do: itemsOf,
  and: itemsOf,
  or: itemsOf,
  at: (node) => [node.time, node.body],
  call: (node) =>
    node.arguments.flatMap(({ node: expression, lambda }) => lambda?.body ?? expression ?? []),
};

// The kind of a node picks the function for that kind.
const childrenOf = (node: Node): readonly Node[] => CHILDREN[node.kind](node as never);
