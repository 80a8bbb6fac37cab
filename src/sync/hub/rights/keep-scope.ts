/** Stores what the rights of a device were found to depend on. */
import type { Transactions } from '../../../engine/engine.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import { isSameScope, mergedScopes, NO_SCOPE, scopeIn, scopeRow, type Scope } from './scope.ts';

interface FoundScope {
  readonly database: DatabaseId;
  readonly before: Scope | undefined;
  readonly scope: Scope;
  /** The row is written whatever it holds: it tells other processes that the device reads more. */
  readonly isTold?: boolean;
}

/** Before the answer is sent: a device that has it must be told when what it depends on changes. */
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
  // What is only told may be lost, as a hint: a hub whose disk is full answers pulls.
  await (isKept ? written.catch(() => undefined) : written);
}
