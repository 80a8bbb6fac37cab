/** The commands of `burrow`. */
import { Command } from 'commander';
import { VERSION } from '../../hosts/build.ts';
import { inTime } from '../event-loop/in-time.ts';
import { addSettings, readSettings } from '../settings/read-settings.ts';
import type { Flags, ProgramHost } from './command-parts.ts';
import { addExport, addImport } from './data-commands.ts';
import { addKey } from './key-commands.ts';
import { addSchema, addTypes } from './schema-commands.ts';
import { serve, STOP_MS } from './serve.ts';
import { addDump, addLoad, addMove } from './store-commands.ts';

export function createProgram(host: ProgramHost): Command {
  const program = new Command('burrow')
    .description('Burrow: an offline document database that speaks FQL v4')
    .version(VERSION);
  addHub(program, host);
  addKey(program, host);
  addDump(program, host);
  addLoad(program, host);
  addMove(program, host);
  addExport(program, host);
  addImport(program, host);
  addSchema(program, host);
  addTypes(program, host);
  return program;
}

function addHub(program: Command, host: ProgramHost): void {
  addSettings(program.command('hub').description('serve databases over HTTP')).action(
    async (flags: Flags) => {
      const settings = readSettings(flags, host.environment);
      const opening = serve(settings, host.say);
      let isOpen = false;
      const stop = async (): Promise<void> => {
        if (isOpen) return (await opening).stop();
        // The server rolls back what was begun when its connection ends.
        if (settings.postgres !== undefined) return;
        // Waits, up to a limit, so that the creation of a folder is completed.
        const closed = opening.then(
          (running) => running.stop(),
          () => undefined,
        );
        await inTime(closed, STOP_MS);
      };
      const never = new Promise<never>(() => undefined);
      host.onStop(
        stop,
        opening.then(
          ({ lost }) => lost,
          () => never,
        ),
      );
      const running = await opening;
      isOpen = true;
      host.say(`burrow hub listening on ${running.url}`);
    },
  );
}
