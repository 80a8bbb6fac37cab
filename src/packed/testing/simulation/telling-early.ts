/** A planted fault: other tabs are told what is appended before it is stored, and when it is not. */
import type { Medium } from '../../medium.ts';
import type { Appended } from '../../tree/tree.ts';

export const tellingEarly = (medium: Medium, tell: (appended: Appended) => void): Medium => ({
  look: (...asked) => medium.look(...asked),
  append(parts, expected, durability) {
    tell({ first: expected, parts });
    return medium.append(parts, expected, durability);
  },
  appendAfter: (after, make, durability) =>
    medium.appendAfter(
      after,
      async (log) => {
        const parts = await make(log);
        if (parts) tell({ first: (log.at(-1)?.number ?? after) + 1, parts });
        return parts;
      },
      durability,
    ),
  putBlocks: (blocks) => medium.putBlocks(blocks),
  trim: (trim) => medium.trim(trim),
  close: () => medium.close(),
});
