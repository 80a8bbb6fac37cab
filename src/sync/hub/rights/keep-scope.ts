/** Stores the scope of a device: the data on which its rights depend. */
import type { Transactions } from '../../../engine/engine.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import { isSameScope, mergedScopes, NO_SCOPE, scopeIn, scopeRow, type Scope } from './scope.ts';

interface FoundScope {
  readonly database: DatabaseId;
  readonly before: Scope | undefined;
  readonly scope: Scope;
  /** Write the row even if it is unchanged, to tell other processes that the device reads other sets. */
  readonly isTold?: boolean;
}

/** Call it before the answer is sent, because a device that has the answer must get hints when its rights change. */
export async function keepScope(
  { transactions, clock }: { readonly transactions: Transactions; readonly clock: () => Micros },
  device: DeviceId,
  { database, before, scope, isTold = false }: FoundScope,
): Promise<void> {
  const isKept = isSameScope(before, scope);
  if (!isTold && isKept) return;
  const now = clock();
  const written = transactions.write(({ writer, head }) => {
    const present = scopeIn(writer, database, device);
    const next =
      isSameScope(present, before ?? NO_SCOPE) || !present ? scope : mergedScopes(present, scope);
    if (!isTold && isSameScope(present, next)) return { value: undefined };
    writer.put('sync', scopeRow(database, device, next));
    return { value: undefined, ts: Math.max(now, head) + 1 };
  });
  // If the row is written only for other processes, a failure is ignored, so that a hub whose disk is full still answers pulls.
  await (isKept ? written.catch(() => undefined) : written);
}
