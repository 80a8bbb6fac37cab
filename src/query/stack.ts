/** JavaScript's stack ends where no promise of ours says; hosts name its end differently. */
export const isStackExhausted = (thrown: unknown): boolean =>
  thrown instanceof RangeError || (thrown instanceof Error && thrown.name === 'InternalError');
