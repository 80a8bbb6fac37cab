/** How a device will ask next, once it has applied an answer. */
import { isLoaded } from '../../protocol/loaded-sets.ts';
import type { Pull, Pulled } from '../../protocol/messages.ts';

/** Undefined when it has to ask for more at once. */
export function nextPull(message: Pull, pulled: Pulled): Pull | undefined {
  if (pulled.more || pulled.check || message.refetch.length > 0) return undefined;
  if (!pulled.sets.every(isLoaded)) return undefined;
  const answers = new Map(pulled.sets.map((answer) => [answer.id, answer]));
  const sets = message.sets.map((set) => {
    const answer = answers.get(set.id);
    return answer ? { ...set, loaded: answer.loaded, parts: answer.parts } : set;
  });
  const schema = pulled.schema?.version ?? message.schema;
  const { cursor, token } = pulled;
  return { ...message, cursor, token, schema, sets };
}
