/** The commands of `burrow`. */
import { Command } from 'commander';
import { serve } from '../serve.ts';
import { hubRoutes } from '../routes.ts';
import { addSettings, readSettings } from './read-settings.ts';

export interface ProgramHost {
  readonly say: (sentence: string) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Calls back when the process is told to end. */
  readonly onStop: (stop: () => Promise<void>) => void;
}

export function createProgram(host: ProgramHost): Command {
  const program = new Command('burrow')
    .description('Burrow: an offline document database that speaks FQL v4')
    .version('0.1.0')
    .showHelpAfterError(true);
  addSettings(program.command('hub').description('serve databases over HTTP')).action(
    async (flags: Readonly<Record<string, unknown>>) => {
      const running = await serve(readSettings(flags, host.environment), {
        say: host.say,
        routes: hubRoutes,
      });
      host.onStop(() => running.stop());
      host.say(`burrow hub listening on ${running.url}`);
    },
  );
  return program;
}
