/** `burrow schema` and `burrow types`. */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { OperationFault } from '../operations/operation-fault.ts';
import { secretOption, textOf, urlOption, type Flags, type ProgramHost } from './command-parts.ts';
import { namingFlags } from './option-flags.ts';
import { withSchemaProgram } from './schema-program.ts';

export function addSchema(program: Command, host: ProgramHost): void {
  const schema = program
    .command('schema')
    .description(
      'compare a database of a running hub with the schema of a module, or bring it there',
    );
  const request = (file: string, flags: Flags) => ({
    url: String(flags['url']),
    secret: String(flags['secret']),
    file: resolve(file),
    allowLoss: (textOf(flags['allowLoss']) ?? '').split(',').filter(Boolean),
    say: host.say,
  });
  schema
    .command('diff <module>')
    .description('say what apply would change; ends with 1 if there is anything')
    .addOption(urlOption())
    .addOption(secretOption())
    .action(async (file: string, flags: Flags) => {
      const changes = await withSchemaProgram((commands) => commands.diff(request(file, flags)));
      if (changes > 0) throw new OperationFault(`Changes to apply: ${changes}.`);
    });
  schema
    .command('apply <module>')
    .description('make the changes, and run the data steps that are new')
    .addOption(urlOption())
    .addOption(secretOption())
    .option('--allow-loss <collections>', 'may lose documents or history, separated by commas')
    .action(
      namingFlags(async (file: string, flags: Flags) => {
        await withSchemaProgram((commands) => commands.apply(request(file, flags)));
      }),
    );
}

export function addTypes(program: Command, host: ProgramHost): void {
  program
    .command('types')
    .description('write types of the documents and indexes of a database that has no schema module')
    .addOption(urlOption())
    .addOption(secretOption())
    .option('--out <file>', 'where to', 'burrow-types.ts')
    .action(async (flags: Flags) => {
      const out = String(flags['out']);
      const asked = { url: String(flags['url']), secret: String(flags['secret']) };
      const text = await withSchemaProgram((commands) => commands.types(asked));
      writeFileSync(out, text);
      host.say(`Types written to ${out}.`);
    });
}
