/** What a body returned or threw, kept until its reads are known to be valid: returns the one, or throws the other. */
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
