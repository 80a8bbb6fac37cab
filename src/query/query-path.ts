/** Places in the text of a query. */
import type { Step } from '../errors.ts';

/** Where a node stands in the query text: a chain up to the root, made into an array only when an error needs it. */
export interface Place {
  readonly parent: Place | undefined;
  readonly step: Step;
}
export type Where = Place | undefined;

export const at = (parent: Where, step: Step): Place => ({ parent, step });

export function positionOf(place: Where, ...more: readonly Step[]): readonly Step[] {
  const steps: Step[] = [];
  for (let each = place; each; each = each.parent) steps.push(each.step);
  return steps.reverse().concat(more);
}
