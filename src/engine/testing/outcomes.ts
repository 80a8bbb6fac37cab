/** Outcomes of queries in a form that tests of limits compare. */
import type { Engine } from '../engine.ts';
import type { Query } from './engine-world.ts';
import { askText } from './fuzz-world.ts';

const MINUTE_MS = 60_000;

export type Outcome = { readonly resource: unknown } | { readonly refused: string };

interface Body {
  readonly resource?: unknown;
  readonly errors?: readonly {
    readonly code: string;
    readonly position?: readonly unknown[];
    readonly failures?: readonly { readonly code: string; readonly field: readonly unknown[] }[];
  }[];
}

/**
 * The outcome of a query, given as an object or as text: the resource, or the first error as `code at position`. For a failed validation,
 * the field and the failure.
 */
export async function outcome(engine: Engine, query: Query): Promise<Outcome> {
  const text = typeof query === 'string' ? query : JSON.stringify(query);
  const { body } = await askText(engine, text, '4', MINUTE_MS);
  const { resource, errors } = JSON.parse(body) as Body;
  const [first] = errors ?? [];
  if (!first) return { resource };
  const [failure] = first.failures ?? [];
  if (failure) return { refused: `${failure.code} of ${failure.field.join('.')}` };
  const { code, position } = first;
  return { refused: position ? `${code} at ${JSON.stringify(position)}` : code };
}
