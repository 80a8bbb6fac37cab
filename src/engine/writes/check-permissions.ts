import { isNative } from '../../values/native-kinds.ts';
import { isKind, isObject, type Value } from '../../values/value.ts';
import { optional, refuseType, type Draft } from './draft.ts';
import { refuseMisspelt } from './misspelt.ts';

/**
 * Checks the `permissions` field. For each action it names all callers (`public`), the tokens of one document, or the tokens of a
 * collection's documents. Spec: auth 3.7.
 */
export function checkPermissions(draft: Draft, actions: readonly string[]): void {
  const given = optional(draft, 'permissions', 'Map', isObject);
  if (!given) return;
  if (isNative(draft.ref.collection)) refuseMisspelt(draft, given, actions, ['permissions']);
  const kept = new Map<string, Value>();
  for (const [action, guest] of given) {
    if (!actions.includes(action)) continue;
    if (guest === 'public' || isKind(guest, 'ref')) kept.set(action, guest);
    else refuseType(draft, ['permissions', action], guest, `"public" or Ref`);
  }
  draft.fields.set('permissions', kept);
}
