/** The program `burrow`: what the process as a whole does. */
import { CommanderError } from 'commander';
import { Refusal } from '../src/errors.ts';
import { createProgram } from './cli/program.ts';
import { SettingsFault } from './settings/read-settings.ts';
import { OperationFault } from './operations/fill-store.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** After this the process ends, whatever still holds it. */
const LAST_MS = 10_000;

/** Something that whoever started it can mend: its sentence is enough. */
const isForOperator = (reason: unknown): reason is Error =>
  reason instanceof SettingsFault ||
  reason instanceof Refusal ||
  reason instanceof OperationFault ||
  (reason instanceof Error && 'code' in reason && reason.code === 'ENOENT');

const say = (sentence: string): void => void process.stdout.write(`${sentence}\n`);

function onStop(stop: () => Promise<void>): void {
  let isStopping = false;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      // Told twice: at once.
      if (isStopping) process.exit(1);
      isStopping = true;
      setTimeout(() => process.exit(1), LAST_MS).unref();
      stop().then(
        () => process.exit(0),
        (reason: unknown) => {
          console.error(reason);
          process.exit(1);
        },
      );
    });
  }
}

// A promise that nobody waits for is a fault of ours, and no reason to drop what others are doing.
process.on('unhandledRejection', (reason) => console.error(reason));

try {
  await createProgram({ say, environment: process.env, onStop }).parseAsync();
} catch (reason) {
  if (isForOperator(reason)) {
    console.error(`burrow: ${reason.message}`);
    process.exitCode = 1;
  } else if (!(reason instanceof CommanderError)) {
    console.error(reason);
    process.exitCode = 1;
  }
}
