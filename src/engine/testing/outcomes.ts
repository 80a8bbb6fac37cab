/** What became of a query, as tests of bounds compare it. */
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

/** Of a query, or its text. The resource, or the first error as `code at position`; of a failed validation the field and what is wrong with it. */
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
