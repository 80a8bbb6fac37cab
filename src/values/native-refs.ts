/** Refs of native collections. */
import { isNative, NATIVE } from './native-kinds.ts';
import { Ref, type Value } from './value.ts';

/** Whether a value is `Collections()`, `Keys()` or the like, which can also be used as the set of its members. */
export const isNativeCollectionRef = (
  value: Value,
): value is Ref & { readonly collection: typeof NATIVE.collections } =>
  value instanceof Ref && value.collection === NATIVE.collections && isNative(Number(value.id));
