/**
 * The result or error of a body, kept until its reads are known to be valid. Calling it returns the result or throws
 * the error.
 */
export type Outcome<T> = () => T;

export async function outcomeOf<T>(body: () => Promise<T>): Promise<Outcome<T>> {
  try {
    const value = await body();
    return () => value;
  } catch (reason) {
    return () => {
      throw reason;
    };
  }
}
