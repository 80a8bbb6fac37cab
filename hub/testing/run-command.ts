import { createProgram } from '../cli/program.ts';

/** Runs a command of `burrow` and returns what it prints. @throws the error with which it ends */
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
