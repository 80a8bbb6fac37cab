/** Refs of native collections. */
import { isNative, NATIVE } from './native-kinds.ts';
import { Ref, type Value } from './value.ts';

/** `Collections()`, `Keys()` and the like, which can be used as the set of their members. */
export const isNativeCollectionRef = (
  value: Value,
): value is Ref & { readonly collection: typeof NATIVE.collections } =>
  value instanceof Ref && value.collection === NATIVE.collections && isNative(Number(value.id));
