/** A planted fault: records are broadcast before they are stored, and even if they are not stored. */
import type { Medium } from '../../medium.ts';
import type { Appended } from '../../tree/tree.ts';

export const earlyBroadcast = (
  medium: Medium,
  broadcast: (appended: Appended) => void,
): Medium => ({
  read: (...asked) => medium.read(...asked),
  append(parts, expected, durability) {
    broadcast({ first: expected, parts });
    return medium.append(parts, expected, durability);
  },
  appendAfter: (after, make, durability) =>
    medium.appendAfter(
      after,
      async (log) => {
        const parts = await make(log);
        if (parts) broadcast({ first: (log.at(-1)?.number ?? after) + 1, parts });
        return parts;
      },
      durability,
    ),
  putBlocks: (blocks) => medium.putBlocks(blocks),
  trim: (...trim) => medium.trim(...trim),
  close: () => medium.close(),
});
