/** Asks the worker what goes on in it. */
import type { Database } from '../src/index.ts';
import {
  DIAGNOSTICS_PATH,
  INSPECTOR_TAG,
  type Diagnostics,
  type DiagnosticsCall,
} from '../src/host/diagnostics.ts';

/** Keeps the queries of the inspector out of what it shows. */
export const OWN = { tags: { [INSPECTOR_TAG]: '1' } } as const;

/** @throws Error with what the worker answered */
export async function askWorker(db: Database, call: DiagnosticsCall): Promise<Diagnostics> {
  const answer = await db.fetch(DIAGNOSTICS_PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${db.rootSecret}` },
    body: JSON.stringify(call),
  });
  const body: unknown = await answer.json();
  if (answer.ok) return body as Diagnostics;
  const [error] = (body as { readonly errors: readonly { readonly description: string }[] }).errors;
  throw new Error(error?.description ?? `The worker answered with status ${answer.status}.`);
}
