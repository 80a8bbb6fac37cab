/** Takes what a hub keeps for the devices of databases that were deleted: nobody can ask for it any more, their numbers never come back. */
import { after, syncKey, type Key } from '../../codec/key.ts';
import { databasesBelow, ROOT_DATABASE } from '../../engine/catalog.ts';
import type { BodyInput, BodyResult } from '../../engine/transactions.ts';
import { SYNC_LIMITS } from '../../limits.ts';
import { eachElement } from '../../query/collect-needs.ts';
import type { Range } from '../../store/port.ts';
import type { Reader } from '../../store/reader.ts';
import type { DatabaseId } from '../../values/value.ts';
import { rowsToPrune, type PruneHost } from './pruning.ts';

/** Lists of the space `sync` whose rows begin with a database: docs/store-format.md. */
const LISTS = ['device', 'verdict', 'scope', 'changes', 'horizon', 'made'] as const;

/**
 * In small commits of its own.
 * @returns how many rows went
 */
export async function pruneGoneDatabases({ transactions, clock }: PruneHost): Promise<number> {
  const attempt = ({ writer, head }: BodyInput): BodyResult<number> => {
    const gone = goneKeys(writer);
    for (const key of gone) writer.delete('sync', key);
    return {
      value: gone.length,
      ts: Math.max(clock(), head) + 1,
      keep: gone.length > 0,
    };
  };
  let pruned = 0;
  // Looks before it writes: what finds nothing holds up no writer.
  while ((await transactions.read(attempt)).value > 0)
    pruned += (await transactions.write(attempt)).value;
  return pruned;
}

/** Some of them, or none when there are none. */
function goneKeys(reader: Reader): readonly Key[] {
  const living = eachElement(databasesBelow(reader, ROOT_DATABASE), (database) => database).sort(
    (a, b) => a - b,
  );
  const gaps = LISTS.flatMap((list) => gapsIn(list, living));
  const found = eachElement(gaps, (gap) => reader.range(gap));
  return found
    .flat()
    .slice(0, SYNC_LIMITS.pruneRows)
    .map(({ key }) => key);
}

/** Between what a list holds of living databases. */
function gapsIn(list: string, living: readonly DatabaseId[]): readonly Range[] {
  const gaps: Range[] = [];
  let lower = syncKey(list);
  for (const database of living) {
    gaps.push(rowsToPrune(lower, syncKey(list, database)));
    lower = after(syncKey(list, database));
  }
  return [...gaps, rowsToPrune(lower, after(syncKey(list)))];
}
