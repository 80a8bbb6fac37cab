/** The next pull of a device after it has applied an answer. The hub computes it, too, so that it can answer in advance. */
import { isLoaded } from './loaded-sets.ts';
import type { Pull, Pulled } from './messages.ts';

/** Whether there is nothing left to pull after this answer. */
export const isLast = ({ more, sets }: Pick<Pulled, 'more' | 'sets'>): boolean =>
  !more && sets.every(isLoaded);

export function nextPull(
  message: Pull,
  pulled: Pick<Pulled, 'sets' | 'schema' | 'cursor' | 'token'>,
): Pull {
  const answers = new Map(pulled.sets.map((answer) => [answer.id, answer]));
  const sets = message.sets.map((set) => {
    const answer = answers.get(set.id);
    return answer ? { ...set, loaded: answer.loaded, parts: answer.parts } : set;
  });
  const schema = pulled.schema?.version ?? message.schema;
  const { cursor, token } = pulled;
  return { ...message, cursor, token, schema, sets, refetch: [] };
}
