/** What apps do: transfers, notes, unique names, calls of functions, and handling of refused writes. */
import { Refusal, type RefusalCode } from '../../../errors.ts';
import { StoreTrouble } from './processes.ts';
import { ACCOUNTS, coll, data, userRef, when } from './sim-schema.ts';
import type { SimDevice, Tab, WantedSet } from './sim-device.ts';
import { markOf, said, type World } from './world.ts';

export function work(world: World): void {
  const { chance } = world;
  const device = chance.pick(world.devices);
  if (device.tabs.length === 0) device.openTab();
  const tab = chance.pick(device.tabs);
  if (!device.tabs.some(({ syncer }) => syncer)) void device.lead(tab);
  if (chance.is(0.1)) void resolveRefused(world, device, tab);
  // Sometimes several writes at once, in random tabs.
  const writes = chance.is(0.1) ? 4 : 1;
  for (let i = 0; i < writes; i++) {
    const mark = `m${++world.marks}`;
    void submit(world, device, chance.pick(device.tabs), mark, makeQuery(world, device, mark));
  }
}

async function submit(
  world: World,
  device: SimDevice,
  tab: Tab,
  mark: string,
  query: unknown,
  replaces?: string,
): Promise<boolean> {
  try {
    const id = await device.submit(tab, query, replaces);
    if (id === undefined) return false;
    world.count('write accepted');
    world.accepted.push({ mark, device, id });
    world.tell(() => `${device.name}: ${id} ${mark} ${JSON.stringify(query).slice(0, 300)}`);
    return true;
  } catch (reason) {
    if (!isExpected(reason)) world.problems.push(`submit: ${said(reason)}`);
    return false;
  }
}

/** The database is not a copy yet, is locked, or the write was dealt with in another tab. The store may also have failed. */
const EXPECTED: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'bad request',
  'locked',
  'not found',
]);

const isExpected = (reason: unknown): boolean =>
  reason instanceof Refusal ? EXPECTED.has(reason.code) : reason instanceof StoreTrouble;

/** Submits the write again under another mark, or discards it. */
async function resolveRefused(world: World, device: SimDevice, tab: Tab): Promise<void> {
  const refused = device.outbox().find(({ state }) => state === 'refused');
  const old = refused && markOf(refused.item.query);
  if (!refused || old === undefined) return;
  world.resolved.add(old);
  if (world.chance.is(0.5)) {
    world.count('write discarded');
    await tab.replica.discard(refused.id).catch((reason: unknown) => {
      if (!isExpected(reason)) world.problems.push(`discard: ${said(reason)}`);
    });
    return;
  }
  const mark = `m${++world.marks}`;
  const isDone = await submit(world, device, tab, mark, marked(device, mark), refused.id);
  if (isDone) world.count('write tried again');
}

const marked = (device: SimDevice, mark: string): unknown => ({
  create: coll('marks'),
  params: data({ mark, owner: userRef(device.user) }),
});

function makeQuery(world: World, device: SimDevice, mark: string): unknown {
  const { chance } = world;
  const owner = userRef(device.user);
  const also = (...work: unknown[]) => ({ do: [...work, marked(device, mark)] });
  switch (chance.below(14)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return also(transfer(world));
    case 4:
    case 5: {
      const text = `text ${mark}`;
      return also({ create: coll('notes'), params: data({ owner, shared: chance.is(0.4), text }) });
    }
    case 6:
    case 7:
      return also(changeNote(world, device, mark));
    case 8: {
      // Succeeds here, where the document `traps/1` does not exist, and fails at the hub.
      const trap = { exists: { ref: coll('traps'), id: '1' } };
      return when(trap, { abort: 'trapped' }, also());
    }
    case 9:
      // The names are unique, so only one of these writes succeeds.
      return also({ create: coll('names'), params: data({ text: `name ${chance.below(8)}` }) });
    case 10:
      return also(sameNote(world, device));
    case 11:
      return { call: { function: 'tally' }, arguments: [mark, owner] };
    case 12:
      return { call: { function: 'audit' }, arguments: [mark, owner] };
    default:
      // Whether the query writes depends on the data.
      return when({ exists: accountRef(0) }, also(), null);
  }
}

const accountRef = (id: number) => ({ ref: coll('accounts'), id: String(id) });

export function transfer({ chance }: World): unknown {
  const from = chance.below(ACCOUNTS);
  const to = (from + 1 + chance.below(ACCOUNTS - 1)) % ACCOUNTS;
  const amount = 1 + chance.below(30);
  const balance = (id: number) => ({ select: ['data', 'balance'], from: { get: accountRef(id) } });
  const put = (id: number, value: unknown) => ({
    update: accountRef(id),
    params: data({ balance: value }),
  });
  return {
    let: [{ have: balance(from) }],
    in: when(
      { gte: [{ var: 'have' }, amount] },
      {
        do: [
          put(from, { subtract: [{ var: 'have' }, amount] }),
          put(to, { add: [balance(to), amount] }),
        ],
      },
      null,
    ),
  };
}

/** Changes or deletes the user's first note, if the device shows one. */
function changeNote({ chance }: World, device: SimDevice, mark: string): unknown {
  const mine = { match: { index: 'notes_by_owner' }, terms: userRef(device.user) };
  const first = { select: ['data', 0], from: { paginate: mine, size: 1 } };
  const text = `text ${mark}`;
  const change = chance.is(0.4)
    ? { delete: { var: 'note' } }
    : { update: { var: 'note' }, params: data({ text, shared: chance.is(0.5) }) };
  return when({ is_nonempty: mine }, { let: [{ note: first }], in: change }, null);
}

/** Creates a note with a fixed id, or deletes it if it exists. */
function sameNote({ chance }: World, device: SimDevice): unknown {
  const ref = { ref: coll('notes'), id: String(100 + device.user * 4 + chance.below(2)) };
  const params = data({ owner: userRef(device.user), shared: chance.is(0.5), text: 'again' });
  return when({ exists: ref }, { delete: ref }, { create: ref, params });
}

const documents = (name: string) => ({ documents: coll(name) });

/** Choices of sets that a device keeps, each set with an id of its own. The choice may change at any time. */
export function wantedSets(user: number, choice: number): readonly WantedSet[] {
  const me = userRef(user);
  const mine = { match: { index: 'notes_by_owner' }, terms: me };
  const shared = { match: { index: 'shared_notes' }, terms: true };
  const accounts = { id: 'accounts', query: documents('accounts') };
  const marks = { id: 'marks', query: documents('marks') };
  const names = { id: 'names', query: documents('names') };
  const both = { id: 'notes', query: { union: [mine, shared] } };
  switch (choice) {
    case 0:
      return [accounts, both, marks, names];
    case 1:
      return [marks, { id: 'own notes', query: mine }, accounts];
    case 2: {
      const refs = [0, 1, 2, 3].map(accountRef);
      return [
        { id: 'all notes', query: documents('notes') },
        { id: 'four', query: { union: refs } },
        marks,
      ];
    }
    default: {
      const again = { match: { index: 'notes_by_text' }, terms: 'again' };
      return [accounts, both, marks, { id: 'again', query: again }];
    }
  }
}

export const SET_CHOICES = 4;
