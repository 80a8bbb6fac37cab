/**
 * For frameworks that track reads: defines a getter for each member of the state, which reads the state anew at each access.
 * @param target the object that the getters are defined on
 * @param like a state with the same member names
 */
export const withGetters = <State extends object, Target extends object>(
  target: Target,
  read: () => State,
  like: State,
): State & Target => {
  for (const name of Object.keys(like) as (keyof State)[])
    Object.defineProperty(target, name, { enumerable: true, get: () => read()[name] });
  return target as State & Target;
};
