/**
 * For frameworks that notice what is read: each member of the state is read anew whenever it is asked for.
 * @param target gets the getters
 * @param like has the same names
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
