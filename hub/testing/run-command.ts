import { createProgram } from '../cli/program.ts';

/** What a command of `burrow` says. @throws what it ends with */
export async function runCommand(...args: readonly string[]): Promise<string[]> {
  const said: string[] = [];
  const program = createProgram({
    say: (sentence) => void said.push(sentence),
    environment: {},
    onStop: () => undefined,
  });
  await program.parseAsync(args, { from: 'user' });
  return said;
}
