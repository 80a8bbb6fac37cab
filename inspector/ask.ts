/** Requests the worker's reports for the inspector. */
import type { Database } from '../src/index.ts';
import {
  DIAGNOSTICS_PATH,
  INSPECTOR_TAG,
  type Diagnostics,
  type DiagnosticsCall,
} from '../src/host/diagnostics.ts';

/** Marks the inspector's own queries, so that the worker does not report them. */
export const OWN = { tags: { [INSPECTOR_TAG]: '1' } } as const;

/** @throws Error with the description in the worker's answer */
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
