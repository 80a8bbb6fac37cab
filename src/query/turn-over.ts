/**
 * Thrown by a query that may only be evaluated for a turn (`QueryRequest.turnMs`), at its end. It is no fault, so nothing that handles
 * faults catches it.
 */
export class TurnOver extends Error {}
