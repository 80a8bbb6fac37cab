/**
 * Thrown when a query has been evaluated for longer than its turn (`QueryRequest.turnMs`). It is not a fault, so code
 * that handles faults does not catch it.
 */
export class TurnOver extends Error {}
