import { Expr } from '../../src/client/queries/values.ts';

/** An expression made of wire JSON. */
export const wireOf = <T>(wire: unknown): Expr<T> => new Expr<T>(wire);
