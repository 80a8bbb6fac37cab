/** Compares the sets of a copy with the hub by fingerprints. Finds documents that are missing, extra or outdated. */
import type { DatedDocument, DocumentName } from '../../protocol/identifiers.ts';
import type { Check, Checked } from '../../protocol/messages.ts';
import type { Replica } from '../replica/replica.ts';
import type { ReplicaState } from '../state/replica-state.ts';

export interface Differences {
  /** Each document once, even if it is in several sets. */
  readonly names: readonly DocumentName[];
  /** Whether these are all differences. */
  readonly isAll: boolean;
}

export async function compareSets(
  check: (message: Check) => Promise<Checked>,
  replica: Pick<Replica, 'fingerprint' | 'documentsInBuckets'>,
  { device, epoch, sets }: ReplicaState,
): Promise<Differences> {
  let isAll = true;
  const names = new Map<string, DocumentName>();
  for (const set of sets) {
    if (set.error) continue;
    const { id, query } = set;
    const buckets = await replica.fingerprint(set);
    const { differing, more = false } = await check({ device, epoch, set: { id, query }, buckets });
    isAll &&= !more;
    const numbers = differing.map(({ bucket }) => bucket);
    const here = await replica.documentsInBuckets(set, numbers);
    const there = differing.flatMap(({ documents }) => documents);
    for (const [collection, document] of onOneSide(here, there))
      names.set(`${collection}/${document}`, [collection, document]);
  }
  return { names: [...names.values()], isAll };
}

/** Documents that only one side has, or of which both have different versions. */
function onOneSide(
  here: readonly DatedDocument[],
  there: readonly DatedDocument[],
): readonly DatedDocument[] {
  const rest = new Map(there.map((each) => [each.join('/'), each]));
  const onlyHere = here.filter((each) => !rest.delete(each.join('/')));
  return [...onlyHere, ...rest.values()];
}
