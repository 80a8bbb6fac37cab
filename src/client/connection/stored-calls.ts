/** What is asked of a worker for which no database need be open. */
import type { SalvageResult } from '../../host/salvage.ts';
import { Connection } from './connection.ts';
import { startWorker } from './start-worker.ts';

type Start = (() => Worker) | undefined;

/** Deletes what is stored under a name that this page has not opened. */
export async function forgetStored(name: string, start: Start): Promise<void> {
  await Connection.once(await startWorker(start), (host) => host.forget(name));
}

/** Brings what can be read of a damaged database into a new one. */
export async function salvageStored(
  from: string,
  into: string,
  start: Start,
): Promise<SalvageResult> {
  return Connection.once(await startWorker(start), (host) => host.salvage(from, into));
}
