/** Which documents are here and should not be, or are not and should, or are old: found by fingerprints. */
import type { Check, Checked } from '../../protocol/messages.ts';
import type { DocumentName } from '../../protocol/identifiers.ts';
import type { Micros } from '../../../values/value.ts';
import type { Replica, ReplicaState } from '../state/api.ts';

export interface Differences {
  /** Each once, whatever sets it is in. */
  readonly names: readonly DocumentName[];
  /** There are no others. */
  readonly isAll: boolean;
}

export async function differencesFrom(
  check: (message: Check) => Promise<Checked>,
  replica: Pick<Replica, 'fingerprint' | 'documentsIn'>,
  { device, epoch = '', sets }: ReplicaState,
): Promise<Differences> {
  let isAll = true;
  const wanted = new Map<string, DocumentName>();
  for (const set of sets) {
    if (set.error) continue;
    const { id, query } = set;
    const buckets = await replica.fingerprint(set);
    const { differing, more = false } = await check({ device, epoch, set: { id, query }, buckets });
    isAll &&= !more;
    const numbers = differing.map(({ bucket }) => bucket);
    const here = await replica.documentsIn(set, numbers);
    const there = differing.flatMap(({ documents }) => documents);
    for (const [collection, document] of unlike(here, there))
      wanted.set(`${collection}/${document}`, [collection, document]);
  }
  return { names: [...wanted.values()], isAll };
}

type Dated = readonly [collection: number, id: string, ts: Micros];

/** What is on one side only, or of different times. */
function unlike(here: readonly Dated[], there: readonly Dated[]): readonly Dated[] {
  const rest = new Map(there.map((each) => [each.join('/'), each]));
  const differing: Dated[] = [];
  for (const each of here) if (!rest.delete(each.join('/'))) differing.push(each);
  return [...differing, ...rest.values()];
}
