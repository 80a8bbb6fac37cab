/** Everything that can be done to a copy, in any order, and a small model: documents with a number, and a list of writes. */
import type { AsyncCommand } from 'fast-check';
import { packVersion } from '../../../codec/row.ts';
import { createMemoryStore, SharedMemory } from '../../../store/memory.ts';
import { DAY_MICROS } from '../../../values/time.ts';
import type { Pulled } from '../../protocol/messages.ts';
import type { Verdict } from '../../protocol/writes.ts';
import { DeviceWorld, WELCOMED, everything } from '../device-world.ts';
import { coll, data, when } from './sim-schema.ts';

export interface Write {
  readonly key: number;
  readonly kind: 'put' | 'add';
  readonly number: number;
  /** The verdict of the hub. */
  verdict: Verdict['state'] | undefined;
  /** The device has received the verdict. */
  isTold: boolean;
  /** Its effects are known on the device. */
  isRun: boolean;
  isDiscarded: boolean;
}

type Numbers = ReadonlyMap<number, number>;

const after = (numbers: Numbers, { key, kind, number }: Write): Numbers =>
  new Map([...numbers, [key, kind === 'put' ? number : (numbers.get(key) ?? 0) + number]]);

export class Model {
  hub: Numbers = new Map();
  /** State of the hub before each of the device's writes that it has judged. */
  before: Numbers[] = [];
  confirmed: Numbers = new Map();
  writes: Write[] = [];
  shown = 0;
  ts = 0;
  epoch = 1;

  get judged(): number {
    const at = this.writes.findIndex(({ verdict }) => verdict === undefined);
    return at < 0 ? this.writes.length : at;
  }

  view(): Numbers {
    const pending = this.writes.slice(this.shown);
    return pending
      .filter(({ isRun, isDiscarded }) => isRun && !isDiscarded)
      .reduce(after, this.confirmed);
  }
}

export class Real {
  readonly memory = new SharedMemory();
  tabs: DeviceWorld[] = [];
  fence = 0;
  renamedAt = 0;
  private schema: Pulled | undefined = undefined;

  static async open(): Promise<Real> {
    const real = new Real();
    const hub = new DeviceWorld();
    await hub.answer({ create_collection: { object: { name: 'notes' } } });
    real.schema = await everything(hub.store);
    real.tabs = [real.tab(), real.tab()];
    const { replica } = real.first;
    await replica.adopt('hub', { ...WELCOMED, epoch: 'e1' }, 'd');
    real.fence = await replica.takeFence();
    await replica.apply(real.fence, real.pulled(new Model(), []));
    return real;
  }

  tab(): DeviceWorld {
    return new DeviceWorld(createMemoryStore(this.memory));
  }

  get first(): DeviceWorld {
    return this.at(0);
  }

  at(tab: number): DeviceWorld {
    const found = this.tabs[tab];
    if (!found) throw new Error('There are two tabs.');
    return found;
  }

  pulled({ hub, epoch, judged, ts }: Model, verdicts: readonly Verdict[]): Pulled {
    if (!this.schema) throw new Error('The schema comes first.');
    const body = (number: number) => JSON.stringify({ data: { number } });
    const row = { action: 'create', ttl: undefined, added: undefined, plain: true } as const;
    return {
      ...this.schema,
      epoch: `e${epoch}`,
      cursor: this.schema.cursor + ts,
      lastSeq: judged,
      verdicts,
      puts: [...hub].map(
        ([key, number]) =>
          [1024, String(key), packVersion({ ...row, ts: ts + 1, body: body(number) })] as const,
      ),
      leaves: KEYS.filter((key) => !hub.has(key)).map((key) => [1024, String(key)] as const),
    };
  }

  /** Checks what all tabs show. */
  async check(model: Model): Promise<void> {
    const expected = [...model.view()].sort(([one], [other]) => one - other);
    for (const tab of this.tabs) {
      const found = (await tab.see(ALL)) as { data: readonly (readonly [string, number])[] };
      const shown = found.data.map(([id, number]) => [Number(id), number]);
      if (JSON.stringify(shown) !== JSON.stringify(expected))
        throw new Error(`shows ${JSON.stringify(shown)}, not ${JSON.stringify(expected)}`);
    }
  }
}

export const KEYS: readonly number[] = [0, 1, 2, 3];
const number = { select: ['data', 'number'], from: { get: { var: 'r' } } };
const ALL = {
  map: { lambda: 'r', expr: [{ select: 'id', from: { var: 'r' } }, number] },
  collection: { paginate: { documents: coll('notes') } },
};

export type Command = AsyncCommand<Model, Real>;

const command = (
  name: string,
  run: (model: Model, real: Real) => Promise<void>,
  check: (model: Model) => boolean = () => true,
): Command => ({
  check,
  toString: () => name,
  run: async (model, real) => {
    await run(model, real);
    await real.check(model);
  },
});

export const submit = (tab: number, key: number, kind: Write['kind'], amount: number): Command =>
  command(`submit(${tab}, ${kind} ${key} ${amount})`, async (model, real) => {
    const ref = { ref: coll('notes'), id: String(key) };
    const had = { select: ['data', 'number'], from: { get: ref } };
    const next = kind === 'put' ? amount : { add: [had, amount] };
    const create = { create: ref, params: data({ number: amount }) };
    const update = { update: ref, params: data({ number: next }) };
    await real.at(tab).submit(when({ exists: ref }, update, create));
    const state = { verdict: undefined, isTold: false, isRun: true, isDiscarded: false };
    model.writes.push({ key, kind, number: amount, ...state });
  });

/** The hub judges the next write. The device does not receive the verdict yet. */
export const judge = (isRefused: boolean): Command =>
  command(
    `judge(${isRefused ? 'refused' : 'confirmed'})`,
    async (model) => {
      const write = model.writes[model.judged];
      if (!write) return;
      model.before.push(model.hub);
      write.verdict = isRefused ? 'refused' : 'confirmed';
      if (!isRefused) model.hub = after(model.hub, write);
    },
    (model) => model.judged < model.writes.length,
  );

async function verdictsOn(model: Model, real: Real): Promise<readonly Verdict[]> {
  const { era } = (await real.first.replica.state()) ?? {};
  const found = (await real.first.replica.writes()).filter((write) => write.era === era);
  return found.flatMap(({ item: { seq, hash } }) => {
    const state = model.writes[seq - 1]?.verdict;
    return state ? [{ seq, hash, state, ts: model.ts, body: undefined }] : [];
  });
}

const tell = (model: Model): void => {
  for (const write of model.writes) write.isTold ||= write.verdict !== undefined;
};

export const settle = (): Command =>
  command('settle', async (model, real) => {
    await real.first.replica.settle(real.fence, await verdictsOn(model, real));
    tell(model);
  });

/** Another client changes a document, and a pull brings everything, in one part or in two. */
export const pull = (key: number, value: number | undefined, inParts: boolean): Command =>
  command(`pull(${key} = ${value}${inParts ? ', in parts' : ''})`, async (model, real) => {
    const others = [...model.hub].filter(([each]) => each !== key);
    model.hub = new Map(value === undefined ? others : [...others, [key, value]]);
    model.ts += 1;
    const whole = real.pulled(model, await verdictsOn(model, real));
    if (inParts) {
      await real.first.replica.apply(real.fence, { ...whole, leaves: [], more: true });
      await real.check(model);
    }
    await real.first.replica.apply(real.fence, whole);
    model.confirmed = model.hub;
    model.shown = Math.max(model.shown, model.judged);
    tell(model);
    for (const write of model.writes) write.isRun = true;
  });

/** Continues under another device id, once the device has received all verdicts. */
export const rename = (): Command =>
  command(
    'rename',
    async (model, real) => {
      // A copy may take a new id only after some time. That also applies to a tab that was opened in between.
      real.renamedAt = Math.max(real.first.now, real.renamedAt) + 3 * DAY_MICROS;
      real.first.now = real.renamedAt;
      await real.first.replica.moveToNewDevice(real.fence);
      model.writes = model.writes.slice(model.judged);
      model.before = [];
      model.shown = 0;
      for (const write of model.writes) write.isRun = true;
    },
    ({ writes }) => writes.every(({ verdict, isTold }) => isTold || verdict === undefined),
  );

export const discard = (): Command =>
  command(
    'discard',
    async (model, real) => {
      const at = model.writes.findIndex(isDiscardable);
      const { era } = (await real.first.replica.state()) ?? {};
      const writes = await real.first.replica.writes();
      const write = writes.find((each) => each.era === era && each.item.seq === at + 1);
      await real.first.replica.discard(write?.id ?? '');
      Object.assign(model.writes[at] ?? {}, { isDiscarded: true });
      if (at < model.shown) return;
      for (const write of model.writes) write.isRun = true;
    },
    ({ writes }) => writes.some(isDiscardable),
  );

const isDiscardable = ({ verdict, isTold, isDiscarded }: Write): boolean =>
  verdict === 'refused' && isTold && !isDiscarded;

export const reopen = (tab: number): Command =>
  command(`reopen(${tab})`, async (_, real) => {
    real.tabs[tab] = real.tab();
  });
