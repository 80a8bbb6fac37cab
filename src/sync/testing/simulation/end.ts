/** The invariants that must hold when nothing fails any more and there was enough time. */
import { EVERY_KEY } from '../../../codec/ranges.ts';
import { isLoaded } from '../../protocol/loaded-sets.ts';
import { documentRows } from './rows-in.ts';
import type { SimDevice } from './sim-device.ts';
import { coll, userRef } from './sim-schema.ts';
import { markOf, type World } from './world.ts';

export async function checkEnd(world: World): Promise<void> {
  checkWrites(world);
  for (const device of world.devices) {
    await checkView(world, device);
    await checkCompleteness(world, device);
    checkSecrets(world, device);
  }
}

/** I1, I2, I5: each acknowledged write was executed once, or refused and kept. */
function checkWrites(world: World): void {
  const { accepted, verdicts, lost, forgotten, resolved, problems, hub } = world;
  const made = new Set(documentRows(hub.memory.version).map(({ data }) => data['mark']));
  for (const { mark, device } of accepted) {
    const record = device.outbox().find(({ item }) => markOf(item.query) === mark);
    const fate = record?.state ?? verdicts.get(mark);
    world.count(`write ${fate ?? 'forgotten'}`);
    if (lost.has(mark)) continue;
    if (fate === undefined) {
      if (!forgotten.has(mark) && !resolved.has(mark))
        problems.push(`I5: write ${mark} is in no list`);
    } else if (fate === 'local' || fate === 'parked')
      problems.push(`I9: write ${mark} is still ${fate}`);
    else if (made.has(mark) === (fate === 'refused'))
      problems.push(`I1: write ${mark} was ${fate}, and made ${made.has(mark) ? 1 : 0} times`);
  }
}

/** S4, I6: the device shows what its user sees at the hub. */
async function checkView(world: World, device: SimDevice): Promise<void> {
  const { replica } = device.direct();
  const admin = world.hub.admin();
  const { sets = [] } = device.stored() ?? {};
  for (const { id, query } of device.wanted) {
    const set = sets.find((each) => each.id === id);
    if (!set || !isLoaded(set)) world.problems.push(`S4: the set ${id} is not loaded`);
    const all = {
      map: { lambda: 'r', expr: { get: { var: 'r' } } },
      collection: { select: 'data', from: { paginate: query, size: 10_000 } },
    };
    const there = await admin.answer(all, { secret: device.secret });
    const here = await replica.read({ query: JSON.stringify(all), apiVersion: '4' });
    const isThere = there.status < 300;
    if (isThere ? here.body === there.body : set?.error) continue;
    world.problems.push(
      `S4: ${device.name} sees of ${id} ${JSON.stringify(set?.error)} ${difference(here.body, there.body)}`,
    );
  }
}

/** Queries for which a copy has all data, a part, or nothing. */
const PROBES: readonly unknown[] = [
  ...['notes', 'marks', 'accounts', 'names', 'traps'].map((name) => ({ documents: coll(name) })),
  ...[0, 1].map((user) => ({ match: { index: 'notes_by_owner' }, terms: userRef(user) })),
  { match: { index: 'shared_notes' }, terms: true },
  { match: { index: 'names_by_text' }, terms: 'a' },
  { union: [{ documents: coll('marks') }, { match: { index: 'shared_notes' }, terms: true }] },
].map((set) => ({ count: set }));

/** S5: an answer without missing data equals the answer of the hub. */
async function checkCompleteness(world: World, device: SimDevice): Promise<void> {
  const { replica } = device.direct();
  const admin = world.hub.admin();
  for (const probe of PROBES) {
    const here = await replica.read({ query: JSON.stringify(probe), apiVersion: '4' });
    if (here.status >= 300) continue;
    const isComplete = here.missing?.length === 0;
    world.count(isComplete ? 'answers complete' : 'answers partial');
    if (!isComplete) continue;
    const there = await admin.answer(probe, { secret: device.secret });
    if (there.status < 300 && here.body !== there.body)
      world.problems.push(
        `S5: ${device.name} answers ${JSON.stringify(probe)} with ${here.body}, the hub with ${there.body}`,
      );
  }
}

const SHOWN = 300;

export function difference(here: string, there: string): string {
  let at = 0;
  while (at < here.length && here[at] === there[at]) at += 1;
  const around = (text: string) => text.slice(Math.max(0, at - SHOWN), at + SHOWN);
  return `from ${at} on\n  here  ${around(here)}\n  there ${around(there)}`;
}

/** I7: no secrets are stored. */
function checkSecrets(world: World, device: SimDevice): void {
  const { version } = device.memory;
  for (const space of ['documents', 'history', 'sync', 'meta', 'log', 'files'] as const) {
    const all = { ...EVERY_KEY, limit: Number.MAX_SAFE_INTEGER, reverse: false };
    for (const { row } of version[space].keys.within(all))
      if (row) world.checkText(`${space} of a device`, String(row.value));
  }
  for (const kept of device.file) world.checkText('the file of a device', JSON.stringify(kept));
}
