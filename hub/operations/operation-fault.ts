/** The operation failed for a reason that the operator can act on; the message explains it. */
export class OperationFault extends Error {}
