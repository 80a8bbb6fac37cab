/** The program `burrow`: signals, errors and exit codes of the process. */
import { CommanderError } from 'commander';
import { Refusal } from '../src/errors.ts';
import { createProgram } from './cli/program.ts';
import { SettingsFault } from './settings/option-values.ts';
import { OperationFault } from './operations/operation-fault.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** If shutting down takes longer, the process exits. */
const SHUTDOWN_MS = 10_000;

/** The operator can fix the problem, so the message is printed without a stack trace. */
const isForOperator = (reason: unknown): reason is Error =>
  reason instanceof SettingsFault ||
  reason instanceof Refusal ||
  reason instanceof OperationFault ||
  // For example a missing file, a full disk or an unreachable server.
  (reason instanceof Error && 'syscall' in reason);

const say = (sentence: string): void => void process.stdout.write(`${sentence}\n`);

function onStop(stop: () => Promise<void>, lost: Promise<string>): void {
  let isStopping = false;
  const end = (code: number): void => {
    // A second signal exits at once.
    if (isStopping) process.exit(1);
    isStopping = true;
    setTimeout(() => process.exit(1), SHUTDOWN_MS).unref();
    stop().then(
      () => process.exit(code),
      (reason: unknown) => {
        console.error(reason);
        process.exit(1);
      },
    );
  };
  for (const signal of SIGNALS) process.on(signal, () => end(0));
  void lost.then((why) => {
    console.error(`burrow: ${why}`);
    end(1);
  });
}

// An unhandled rejection is a bug of the hub, but no reason to end all other requests.
process.on('unhandledRejection', (reason) => console.error(reason));

// The disk is full, or the reader of a pipe has ended. The hub continues to serve and a command completes its work, but the exit
// code reports the failure.
process.stdout.on('error', (reason) => {
  console.error(`burrow: Cannot write to standard output: ${reason.message}`);
  process.exitCode = 1;
});

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
