/** An array that counts the reads of its elements. */
export function readCounted<T>(elements: readonly T[]) {
  let reads = 0;
  const array = new Proxy([...elements], {
    get: (target, name) => {
      if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1;
      return Reflect.get(target, name) as unknown;
    },
  }) as readonly T[];
  return { array, reads: (): number => reads };
}
