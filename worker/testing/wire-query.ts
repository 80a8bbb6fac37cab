import { Expr } from '../../src/client/queries/values.ts';

/** An expression of what is written as on the wire. */
export const wireOf = <T>(wire: unknown): Expr<T> => new Expr<T>(wire);
