/** Calls to a worker that need no open database. */
import type { SalvageResult } from '../../host/salvage.ts';
import { Connection } from './connection.ts';
import { startWorker } from './start-worker.ts';

type Start = (() => Worker) | undefined;

/** Deletes a stored database that is not open in this page. */
export async function forgetStored(name: string, start: Start): Promise<void> {
  await Connection.once(await startWorker(start), (host) => host.forget(name));
}

/** Copies what is readable of a damaged database into a new database. */
export async function salvageStored(
  from: string,
  into: string,
  start: Start,
): Promise<SalvageResult> {
  return Connection.once(await startWorker(start), (host) => host.salvage(from, into));
}
