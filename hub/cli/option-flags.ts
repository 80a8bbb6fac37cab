/** Messages of the library name its options. The commands have flags of the same names. */
import type { Command } from 'commander';
import { OperationFault } from '../operations/operation-fault.ts';

/** An option with or without a value, or a value: `delimiter`, `onClash: 'skip'`, `'replace'`. */
const OPTION = /`(\w*)(?:: )?(?:'(\w+)')?`/g;

/** The action of a command. If the operation fails, the error names flags of the command instead of options. */
export const namingFlags =
  <Args extends readonly unknown[]>(action: (...args: Args) => Promise<void>) =>
  async (...args: readonly [...Args, command: Command]): Promise<void> => {
    try {
      await action(...(args as unknown as Args));
    } catch (reason) {
      if (reason instanceof OperationFault)
        reason.message = withFlags(reason.message, args.at(-1) as Command);
      throw reason;
    }
  };

const withFlags = (message: string, { options }: Command): string =>
  message.replace(OPTION, (text, name: string, value = '') => {
    const flag = name && options.find((each) => each.attributeName() === name)?.long;
    return flag === undefined ? text : `${flag} ${value}`.trim();
  });
