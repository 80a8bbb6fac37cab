/** The page that the benchmark drives: `window.bench`, for the contender named in the address. */
import { contenders } from 'virtual:contenders';
import type { Contender, ContenderModule } from './contender.ts';
import { idOf } from './documents.ts';
import { contents, writeUntilKilled } from './crash.ts';
import { balances, listen, openAccounts, poke, transfers } from './two-tabs.ts';
import { WORKLOADS, type WorkloadOptions } from './workloads.ts';

const address = new URLSearchParams(location.search);

async function load(): Promise<ContenderModule> {
  const name = address.get('contender') ?? '';
  const module = await contenders[name]?.();
  if (!module) throw new Error(`No contender is called ${name}.`);
  return module;
}

let opened: Contender | undefined;
function contender(): Contender {
  if (!opened) throw new Error('The contender is not open.');
  return opened;
}

export type Bench = typeof bench;

const bench = {
  async open(name: string) {
    const { info, create } = await load();
    opened = create();
    await opened.open(name);
    return info;
  },
  close: () => contender().close(),
  run(name: string, options: WorkloadOptions) {
    const workload = WORKLOADS[name];
    if (!workload) throw new Error(`No workload is called ${name}.`);
    return workload(contender(), options);
  },
  openAccounts: () => openAccounts(contender()),
  balances: () => balances(contender()),
  transfers: (options: Parameters<typeof transfers>[1]) => transfers(contender(), options),
  listen: () => listen(contender()),
  contents: () => contents(contender()),
  writeUntilKilled: (options: Parameters<typeof writeUntilKilled>[1]) =>
    writeUntilKilled(contender(), options),
  poke: (options: Parameters<typeof poke>[1]) => poke(contender(), options),
};

/** Time from the start of the navigation to the first document, which is what a user waits for. */
async function openCold(name: string) {
  const { create } = await load();
  const loaded = performance.now();
  const cold = create();
  await cold.open(name);
  const open = performance.now();
  const id = idOf(321);
  const doc = await cold.get(id);
  const read = performance.now();
  if (doc?.id !== id) throw new Error('Wrong answer: the first read.');
  return { load: loaded, open: open - loaded, read: read - open, total: read };
}

const coldName = address.get('cold');
Object.assign(window, { bench, ...(coldName !== null && { cold: openCold(coldName) }) });
