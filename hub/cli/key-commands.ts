/** `burrow key`. */
import { Option, type Command } from 'commander';
import { createKey } from '../operations/create-key.ts';
import { SettingsFault, type Parse } from '../settings/option-values.ts';
import {
  argParser,
  orVariable,
  textOf,
  urlOption,
  type Flags,
  type ProgramHost,
} from './command-parts.ts';

const ROLES = 'admin, server, server-readonly, client or the name of a role';

const roleName: Parse<string> = (text) => {
  if (/^[\p{L}\p{N}_+@$.!~%;-]+$/u.test(text)) return text;
  throw new SettingsFault(`expected ${ROLES}`);
};

export function addKey(program: Command, { say }: ProgramHost): void {
  program
    .command('key')
    .description('manage keys of a running hub')
    .command('create')
    .description('create a key and print its secret, once')
    .option('--database <path>', 'names of databases from the root, separated by slashes', '')
    .requiredOption('--role <role>', ROLES, argParser(roleName))
    .option('--name <text>', 'stored in the data of the key')
    .option('--make-database', 'create missing databases of the path', false)
    .addOption(urlOption())
    .addOption(
      orVariable(
        new Option('--root-secret <secret>', 'root secret of the hub'),
        'BURROW_ROOT_SECRET',
      ).makeOptionMandatory(),
    )
    .action(async (flags: Flags) => {
      const secret = await createKey({
        url: String(flags['url']),
        rootSecret: String(flags['rootSecret']),
        database: String(flags['database']),
        role: String(flags['role']),
        name: textOf(flags['name']),
        makeDatabases: flags['makeDatabase'] === true,
      });
      say(secret);
    });
}
