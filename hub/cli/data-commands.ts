/** `burrow export` and `burrow import`: documents of a database of a running hub. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { OnClash } from '../../src/data/write-batches.ts';
import { exportToFile, importFile } from '../operations/data.ts';
import { OperationFault } from '../operations/operation-fault.ts';
import { importLines, REPORT } from '../operations/import-lines.ts';
import { SettingsFault, type Parse } from '../settings/option-values.ts';
import {
  argParser,
  progress,
  requireFile,
  secretOption,
  textOf,
  urlOption,
  type Flags,
  type ProgramHost,
} from './command-parts.ts';
import { namingFlags } from './option-flags.ts';

export function addExport(program: Command, host: ProgramHost): void {
  program
    .command('export <file>')
    .description('write schema and documents of a database of a running hub to a file')
    .addOption(urlOption())
    .addOption(secretOption())
    .option('--history', 'also the versions before the present ones', false)
    .action(async (file: string, flags: Flags) => {
      let documents = 0;
      const report = progress(host, 'exported', 'documents');
      await exportToFile({
        url: String(flags['url']),
        secret: String(flags['secret']),
        file,
        history: flags['history'] === true,
        onProgress: ({ done }) => {
          documents = done;
          report(done);
        },
      });
      host.say(`Exported ${documents} documents to ${file}.`);
    });
}

const onClash: Parse<OnClash> = (text) => {
  if (text === 'refuse' || text === 'skip' || text === 'replace') return text;
  throw new SettingsFault('expected refuse, skip or replace');
};

export function addImport(program: Command, host: ProgramHost): void {
  program
    .command('import <path>')
    .description(
      'import a file of burrow export, a .jsonl or .csv file, or a folder with schema.jsonl (queries) and <collection>.jsonl (documents)',
    )
    .addOption(urlOption())
    .addOption(secretOption())
    .option('--dry-run', 'of a folder: read everything and write nothing', false)
    .option('--keep-ts', 'of a folder: keep the time of the last change of each document', false)
    .option('--collection <name>', 'of a .jsonl or .csv file: where its documents are created')
    .option('--id <name>', 'of a .jsonl or .csv file: member or column with the id')
    .option('--delimiter <character>', 'of a .csv file: what is between cells, if no comma')
    .option(
      '--on-clash <what>',
      'of a file: what becomes of documents that exist with other contents: refuse (the default), skip or replace',
      argParser(onClash),
    )
    .action(
      namingFlags(async (path: string, flags: Flags) => {
        requireFile(path);
        if (statSync(path).isDirectory()) return importFolder(path, flags, host);
        // Refused instead of ignored, because an import must not write anything if the user asked for a dry run.
        if (flags['dryRun'] === true || flags['keepTs'] === true)
          throw new SettingsFault('--dry-run and --keep-ts need a folder.');
        return importOneFile(path, flags, host);
      }),
    );
}

async function importOneFile(file: string, flags: Flags, host: ProgramHost): Promise<void> {
  const reports = {
    exporting: () => undefined,
    checking: progress(host, 'checked', 'documents'),
    importing: progress(host, 'imported', 'documents'),
  };
  const result = await importFile({
    url: String(flags['url']),
    secret: String(flags['secret']),
    file,
    onClash: onClash(textOf(flags['onClash']) ?? 'refuse'),
    collection: textOf(flags['collection']),
    id: textOf(flags['id']),
    delimiter: textOf(flags['delimiter']),
    onProgress: ({ phase, done }) => reports[phase](done),
  });
  const { imported, same, kept, replaced, expired, omitted } = result;
  const others = [
    `${same} exist already`,
    ...(kept > 0 ? [`${kept} kept as they were`] : []),
    ...(replaced > 0 ? [`${replaced} replaced`] : []),
    ...(expired > 0 ? [`${expired} expired`] : []),
  ];
  host.say(`${imported} imported, ${others.join(', ')}.`);
  if (omitted.length > 0) host.say(`Not in the export: ${omitted.join(', ')}.`);
}

async function importFolder(folder: string, flags: Flags, { say }: ProgramHost): Promise<void> {
  if (flags['collection'] ?? flags['id'] ?? flags['delimiter'] ?? flags['onClash'])
    throw new SettingsFault('--collection, --id, --delimiter and --on-clash need a file.');
  const dryRun = flags['dryRun'] === true;
  const { imported, existing, rejected } = await importLines({
    url: String(flags['url']),
    secret: String(flags['secret']),
    folder,
    dryRun,
    keepTs: flags['keepTs'] === true,
    onProgress: say,
  });
  say(
    dryRun
      ? `${imported} can be read, ${rejected} rejected. Nothing was imported.`
      : `${imported} imported, ${existing} exist already, ${rejected} rejected.`,
  );
  if (rejected > 0)
    throw new OperationFault(
      `The rejected lines are ${dryRun ? 'listed above' : `in ${join(folder, REPORT)}`}.`,
    );
}
