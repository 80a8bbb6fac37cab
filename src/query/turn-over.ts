/**
 * Thrown by a query that may only be evaluated for a turn (`QueryPlan.turnMs`), at its end. It is no fault, so nothing that handles
 * faults catches it.
 */
export class TurnOver extends Error {}
