import { DatabaseWorker } from './connection/database-worker.ts';
import { Database, progressOf } from './database.ts';
import { OPTIONS, type DatabaseOptions, type ForWorker } from './options.ts';
import { readOptions } from './read-options.ts';
import { checkName, storedName } from './stored-names.ts';

/**
 * Opens a database of this origin, or creates it if it does not exist.
 * @throws UsageError when an option is invalid or does not exist, Unsupported where there are no workers
 * @throws QueryError when the browser refuses storage, or the worker does not start
 * @example
 * const db = await openDatabase('field-notes');
 * const notes = await db.client().query(q.Paginate(q.Documents(q.Collection('notes'))));
 */
export async function openDatabase(name: string, options: DatabaseOptions = {}): Promise<Database> {
  checkName(name);
  const {
    worker: start,
    identity,
    unlock,
    persist,
    onProgress,
    ...settings
  } = readOptions(OPTIONS, options);
  const worker = new DatabaseWorker({
    name: await storedName(name, identity),
    start,
    settings: settings satisfies ForWorker,
  });
  const stop = worker.listen({
    onMessage: (message) => {
      if (message.type === 'progress') onProgress?.(progressOf(message));
    },
  });
  await worker.start().finally(stop);
  const database = new Database(worker, { name, persist });
  if (unlock && database.isLocked) {
    await database.unlock(unlock).catch(async (reason: unknown) => {
      await database.close();
      throw reason;
    });
  }
  return database;
}
