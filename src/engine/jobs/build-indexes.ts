/** Builds indexes in the background, in steps that are commits of their own. Any engine can continue after the last step. */
import { hexOfKey, keyOfHex, LOWEST_KEY, syncKey, type Key } from '../../codec/key.ts';
import { eachElement } from '../../query/collect-needs.ts';
import type { Writer } from '../../store/reader.ts';
import type { DatabaseId } from '../../values/value.ts';
import type { EngineOptions } from '../context/host.ts';
import { livingDatabases } from '../catalog/databases.ts';
import type { IndexDefinition } from '../catalog/definitions.ts';
import { buildStep, type BuildStep } from '../documents/index-build.ts';
import { systemContext } from '../session/internal-session.ts';
import type { Transactor } from '../transactions/transactor.ts';
import { isCopy } from './is-copy.ts';
import { FIRST_ROWS, sizeAfter } from './step-size.ts';

export interface BuildProgress {
  /** Name of the index. */
  readonly index: string;
  /** Documents visited so far. */
  readonly done: number;
  readonly isComplete: boolean;
}

type JobHost = Pick<EngineOptions, 'clock' | 'random' | 'sha256' | 'pause' | 'view'>;

export interface BuildOptions {
  /** The databases in which indexes are looked for. Default: all. */
  readonly databases?: Iterable<DatabaseId> | undefined;
  readonly onProgress?: (progress: BuildProgress) => void;
}

/** Resolves when no index is left to be built. @throws the first failure, after all other indexes have been built */
export async function buildIndexes(
  transactor: Transactor,
  host: JobHost,
  { databases, onProgress = () => undefined }: BuildOptions = {},
): Promise<void> {
  const failures: unknown[] = [];
  for await (const some of piecesOf(transactor, databases)) {
    const before = failures.length;
    for (;;) {
      // Indexes whose build failed are still in the list, before the others.
      const next = (await waitingIndexes(transactor, host, some))[failures.length - before];
      if (!next) break;
      await buildIndex(transactor, host, next, onProgress).catch((reason) => failures.push(reason));
    }
    await host.pause();
  }
  if (failures.length > 0) throw failures[0];
}

/** The given databases one by one, or all databases, some at a time. */
async function* piecesOf(
  transactor: Transactor,
  databases: Iterable<DatabaseId> | undefined,
): AsyncGenerator<readonly DatabaseId[]> {
  for (const each of databases ?? []) yield [each];
  let from = databases ? undefined : LOWEST_KEY;
  while (from !== undefined) {
    const at = from;
    const { value } = await transactor.read(({ writer }) => ({
      value: livingDatabases(writer, at),
    }));
    yield value.some;
    from = value.next;
  }
}

async function buildIndex(
  transactor: Transactor,
  host: JobHost,
  { ref, name }: IndexDefinition,
  onProgress: (progress: BuildProgress) => void,
): Promise<void> {
  let from: Key | undefined;
  let size = FIRST_ROWS;
  let done = 0;
  do {
    const [start, documents] = [from, size];
    const { value: step } = await transactor.write((input) => {
      const context = systemContext(input, ref.database, host);
      const step = (at: Key | undefined): BuildStep => buildStep(context, ref, at, documents);
      // A copy may be pulled again with the same index numbers, so the stored progress of earlier builds is not used.
      const value = isCopy(host, input.writer)
        ? step(start)
        : stepOn(input.writer, ref, start, step);
      return { value, ts: context.commitTs };
    });
    from = step.next;
    size = sizeAfter(step.bytes, size);
    done += step.documents;
    onProgress({ index: name, done, isComplete: from === undefined });
    await host.pause();
  } while (from !== undefined);
}

/**
 * Executes a step, starting where the last engine that built the index stopped: a page may never stay open for as long as a whole build
 * takes.
 */
function stepOn(
  writer: Writer,
  { database, id }: IndexDefinition['ref'],
  start: Key | undefined,
  build: (from: Key | undefined) => BuildStep,
): BuildStep {
  const key = syncKey('building', database, Number(id));
  const reached = writer.row({ space: 'sync', key });
  const step = build(start ?? (reached && keyOfHex(String(reached.value))));
  if (step.next !== undefined) writer.put('sync', { key, entries: [], value: hexOfKey(step.next) });
  else if (reached) writer.delete('sync', key);
  return step;
}

async function waitingIndexes(
  transactor: Transactor,
  host: JobHost,
  databases: readonly DatabaseId[],
): Promise<readonly IndexDefinition[]> {
  const { value } = await transactor.read((input) => ({
    value: eachElement(databases, (database) =>
      systemContext(input, database, host)
        .schema(database)
        .all('indexes')
        .filter((index) => index.isBuilding),
    ).flat(),
  }));
  return value;
}
