/**
 * Hub processes and folders for their data, for the tests of one file. Processes are ended after each test, folders removed after
 * all.
 */
import { rm } from 'node:fs/promises';
import { afterAll, afterEach } from 'vitest';
import {
  makeFolder,
  removeTestHub,
  startHub,
  type HubProcess,
  type ProcessOptions,
} from './hub-process.ts';
import { prepareFolder } from './prepared-pglite.ts';

export interface HubProcesses {
  readonly open: (options: ProcessOptions) => Promise<HubProcess>;
  readonly folder: () => Promise<string>;
  /** A folder with an empty database. */
  readonly prepared: () => Promise<string>;
}

export function hubProcesses(): HubProcesses {
  const hubs: HubProcess[] = [];
  const folders: string[] = [];
  afterEach(async () => {
    for (const { child, exited } of hubs.splice(0)) {
      child.kill('SIGKILL');
      await exited;
    }
  });
  afterAll(async () => {
    for (const each of folders) await rm(each, { recursive: true, force: true });
    await removeTestHub();
  });
  const folder = async (): Promise<string> => {
    const made = await makeFolder();
    folders.push(made);
    return made;
  };
  return {
    folder,
    prepared: async () => prepareFolder(await folder()),
    async open(options) {
      const hub = await startHub(options);
      hubs.push(hub);
      return hub;
    },
  };
}
