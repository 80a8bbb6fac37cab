/** A pull that comes in parts. The parts are staged in rows of their own until the last one has come. */
import type { Reader, Writer } from '../../../store/reader.ts';
import type { DocumentName, PulledDocument } from '../../protocol/identifiers.ts';
import type { Pulled } from '../../protocol/messages.ts';
import { suspectOnceMore, type ReplicaState } from '../state/replica-state.ts';
import { readStaged, stagedRow } from '../state/staged-rows.ts';

export function stagePart(writer: Writer, state: ReplicaState, pulled: Pulled): ReplicaState {
  const parts = state.staged?.parts ?? 0;
  writer.put('sync', stagedRow(parts, pulled));
  const staged = { cursor: pulled.cursor, parts: parts + 1 };
  return { ...state, staged, ...tokenOf(pulled, state) };
}

/** The token of the answer. If a comparison is due, it stays due until it has been made. */
export const tokenOf = (
  { token, check }: Pulled,
  state: ReplicaState,
): Pick<ReplicaState, 'token' | 'suspectSince'> => ({
  token,
  suspectSince: check ? suspectOnceMore(state) : state.suspectSince,
});

/** Merges all parts of a pull. A later part overrides what earlier ones say of a document. @throws Suspended */
export function withStagedParts(reader: Reader, { staged }: ReplicaState, last: Pulled): Pulled {
  if (!staged) return last;
  const earlier = Array.from({ length: staged.parts }, (_, part) => readStaged(reader, part));
  const puts = new Map<string, PulledDocument>();
  const leaves = new Map<string, DocumentName>();
  for (const part of [...earlier, last]) {
    for (const put of part.puts) {
      const name = `${put[0]}/${put[1]}`;
      leaves.delete(name);
      puts.set(name, put);
    }
    for (const leave of part.leaves) {
      const name = `${leave[0]}/${leave[1]}`;
      puts.delete(name);
      leaves.set(name, leave);
    }
  }
  // The last part also has the latest schema, because each part is requested with the version of the schema that is stored.
  return { ...last, puts: [...puts.values()], leaves: [...leaves.values()] };
}
