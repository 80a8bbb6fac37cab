/** Positions in the text of a query. */
import type { Step } from '../errors.ts';

/** The position of a node in the query, as a chain up to the root. It becomes an array only when an error needs it. */
export interface QueryPathStep {
  readonly parent: QueryPathStep | undefined;
  readonly step: Step;
}
export type QueryPath = QueryPathStep | undefined;

export const at = (parent: QueryPath, step: Step): QueryPathStep => ({ parent, step });

export function positionOf(path: QueryPath, ...more: readonly Step[]): readonly Step[] {
  const steps: Step[] = [];
  for (let each = path; each; each = each.parent) steps.push(each.step);
  return steps.reverse().concat(more);
}
