/** `burrow dump`, `load` and `move`: all data of a hub that is not running. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { dumpStore, loadStore, requireDump } from '../operations/dump.ts';
import { moveStore } from '../operations/move.ts';
import { OperationFault } from '../operations/operation-fault.ts';
import {
  folder,
  integer,
  postgresUrl,
  SettingsFault,
  TENANT_DEFAULT,
  tenantName,
} from '../settings/option-values.ts';
import { addSettings, parsed, readSettings } from '../settings/read-settings.ts';
import { isMemory } from '../sql/pglite-database.ts';
import { movedTo } from '../store/hub-rows.ts';
import { openHubStore, storePlaceOf, type HubStore, type StorePlace } from '../store/open-store.ts';
import { argParser, progress, requireFile, type Flags, type ProgramHost } from './command-parts.ts';

export function addDump(program: Command, host: ProgramHost): void {
  const dump = program
    .command('dump <file>')
    .description('write all data of a hub to a file')
    .option(
      '--last-seen <txn>',
      'X-Txn-Time of a write that must be in it: a standby may be behind',
      argParser(integer(0, Number.MAX_SAFE_INTEGER)),
    );
  addSettings(dump, PLACE).action(async (file: string, flags: Flags) => {
    const opening = openHubStore({
      at: placeIn(flags, host),
      mustExist: true,
      isReadOnly: true,
      say: host.say,
    });
    await withStore(opening, async ({ store, describe }) => {
      const moved = await movedTo(store);
      const rows = await dumpStore(store, file, {
        now: () => new Date(),
        onProgress: progress(host, 'dumped'),
        ...(flags['lastSeen'] !== undefined && { lastSeen: Number(flags['lastSeen']) }),
      });
      host.say(`Dumped ${rows} rows of ${describe} to ${file}.`);
      if (moved !== undefined) host.say(`This data was moved to ${moved}: later writes are there.`);
    });
  });
}

export function addLoad(program: Command, host: ProgramHost): void {
  const load = program
    .command('load <file>')
    .description('fill an empty store from a dump; its data get a new epoch');
  addSettings(load, PLACE).action(async (file: string, flags: Flags) => {
    // Checks the file first, so that no store is created for an invalid one.
    requireFile(file);
    await requireDump(file);
    const at = requireKept(placeIn(flags, host));
    const opening = openHubStore({ at, say: host.say });
    await withStore(opening, async ({ store, describe }) => {
      const rows = await loadStore(store, file, progress(host, 'loaded'));
      host.say(`Loaded ${rows} rows into ${describe}.`);
    });
  });
}

export function addMove(program: Command, host: ProgramHost): void {
  program
    .command('move')
    .description('copy the data of a stopped hub to another store and verify the copy')
    .requiredOption('--from <location>', 'folder or postgres:// URL')
    .requiredOption('--to <location>', 'folder or postgres:// URL; must be empty')
    .option('--from-tenant <name>', 'which tenant of a PostgreSQL database to copy', TENANT_DEFAULT)
    .option(
      '--to-tenant <name>',
      'name of the tenant to create in a PostgreSQL database',
      TENANT_DEFAULT,
    )
    .action(async (flags: Flags) => {
      const from = placeOfMove(flags, 'from');
      const to = requireKept(placeOfMove(flags, 'to'));
      const { say } = host;
      await withStore(openHubStore({ at: from, mustExist: true, say }), async (source) => {
        if (await source.isServed()) throw new OperationFault(`${SERVED} ${source.describe}.`);
        await withStore(openHubStore({ at: to, say }), async (target) => {
          const on = { copied: progress(host, 'copied'), verified: progress(host, 'verified') };
          const { rows, sha256 } = await moveStore(
            source.store,
            target.store,
            target.describe,
            (task, count) => on[task](count),
          );
          say(
            `Copied ${rows} rows from ${source.describe} to ${target.describe} and verified them.`,
          );
          say(`SHA-256 of both: ${sha256}`);
          const files = 'data' in from ? join(from.data, 'files') : '';
          if (existsSync(files) && readdirSync(files).length > 0)
            say(`Files of documents are not copied: they are still in ${files}.`);
        });
      });
    });
}

/** A running hub does not check whether its data were moved, so its later writes would be lost. */
const SERVED = 'Stop all hubs, and run the move again: a hub serves';

const PLACE = ['data', 'postgres', 'tenant'] as const;

const placeIn = (flags: Flags, { environment }: ProgramHost): StorePlace =>
  storePlaceOf(readSettings(flags, environment));

function placeOfMove(flags: Flags, end: 'from' | 'to'): StorePlace {
  const where = String(flags[end]);
  const tenant = parsed(tenantName, String(flags[`${end}Tenant`]), `--${end}-tenant`);
  if (where.includes('://')) return { postgres: parsed(postgresUrl, where, `--${end}`), tenant };
  if (tenant !== TENANT_DEFAULT)
    throw new SettingsFault(
      `--${end}-tenant needs a postgres:// URL: a folder holds the data of one hub.`,
    );
  return { data: parsed(folder, where, `--${end}`) };
}

/** Refuses a database in memory: the copy would be lost when this process ends. */
function requireKept(at: StorePlace): StorePlace {
  if ('data' in at && isMemory(at.data))
    throw new SettingsFault(`${at.data} keeps nothing: name a folder or a postgres:// URL.`);
  return at;
}

async function withStore(
  opening: Promise<HubStore>,
  work: (opened: HubStore) => Promise<void>,
): Promise<void> {
  const opened = await opening;
  try {
    await work(opened);
  } finally {
    await opened.close();
  }
}
