/** The operation failed for a reason that the message tells the operator. */
export class OperationFault extends Error {}
