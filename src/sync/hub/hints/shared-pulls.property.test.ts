/** The pull in a hint equals the device's own pull, whichever device it was evaluated for. */
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { create, coll, doc, obj, ROOT } from '../../../engine/testing/engine-world.ts';
import type { ChangeHint } from '../../protocol/hints.ts';
import { isLoaded } from '../../protocol/loaded-sets.ts';
import type { Pulled } from '../../protocol/messages.ts';
import { isSyncRefusal } from '../../protocol/refusals.ts';
import { accepted, wire, type Device, type HubWorld } from '../../testing/hub-world.ts';
import { anyStep, RandomHub } from '../../testing/random-hub.ts';
import type { SyncHub } from '../sync-hub.ts';
import { withoutKnownSets } from '../pull/changed-sets.ts';
import { ChangeHints } from './change-hints.ts';

const THINGS = { documents: coll('things') };
const KIND_A = { match: { index: 'by_kind' }, terms: 'a' };
const ALIKE = 3;

const TOKEN_MS = 60_000;
const SECRETS = 4;

const step = fc.oneof(
  { weight: 8, arbitrary: anyStep.filter((each) => each.do !== 'pull' && each.do !== 'catchUp') },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revoke' as const), who: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('push' as const), who: fc.nat() }) },
);

test('P1 P3 the pull in a hint equals the device’s own pull, and devices with equal rights and sets share it', async () => {
  const sharing = vi.spyOn(ChangeHints.prototype, 'onSharedPull');
  const isShared = (id: string, { token }: Pulled): boolean =>
    sharing.mock.calls.some(([{ device }, { next }]) => device === id && next.token === token);
  let taken = 0;
  let shared = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 30, size: 'max' }),
      async (steps) => {
        sharing.mockClear();
        const hub = await RandomHub.open();
        const { world } = hub;
        const oracle = hubThatOnlyReads(world);
        const secrets = await credentials(world);
        const listeners: ListeningDevice[] = [];
        for (const secret of secrets)
          for (const query of [THINGS, KIND_A])
            for (let i = 0; i < ALIKE; i++) {
              const device = (await world.device(secret)).watch(query);
              listeners.push(await ListeningDevice.open(world, device));
            }
        for (const each of steps) {
          if (each.do === 'revoke') await revoke(world, secrets[each.who % SECRETS]);
          else if (each.do === 'wait') world.tick(TOKEN_MS);
          else if (each.do === 'push') await listeners[each.who % listeners.length]?.push();
          else await hub.take(each);
          for (const listener of listeners) taken += await listener.takeHints(oracle, isShared);
        }
        shared += sharing.mock.calls.length;
      },
    ),
    { numRuns: 60 },
  );
  expect(taken).toBeGreaterThan(100);
  expect(shared).toBeGreaterThan(100);
  sharing.mockRestore();
});

/** Ignores errors, because the token may have expired already. */
const revoke = (world: HubWorld, secret = ''): Promise<unknown> =>
  world.ask({ logout: false }, { secret }).catch(() => undefined);

/** Secrets of an admin, of the first user (two, one of which expires), and of the second user. */
async function credentials(world: HubWorld): Promise<readonly string[]> {
  const token = await world.document({
    create: { tokens: null },
    params: obj({
      instance: doc('users', 1),
      ttl: { time_add: { time: 'now' }, offset: 3, unit: 'minutes' },
    }),
  });
  return [ROOT, await world.login(1), token.secret, await world.user(2, { team: 2 })];
}

const dropped = () => Promise.resolve({ value: undefined } as never);

/** A hub over the same data that knows no devices and writes nothing. */
function hubThatOnlyReads(world: HubWorld): SyncHub {
  const { transactions } = world.engine;
  return world.beside({
    engine: {
      transactions: { ...transactions, write: dropped },
      onCommit: () => () => undefined,
    },
  });
}

class ListeningDevice {
  private readonly device: Device;
  private readonly hints: ChangeHint[] = [];
  private isRefused = false;

  private constructor(device: Device) {
    this.device = device;
  }

  static async open(world: HubWorld, device: Device): Promise<ListeningDevice> {
    const own = new ListeningDevice(device);
    const onHint = (hint: ChangeHint): unknown => own.hints.push(hint);
    accepted(await world.sync.subscribe(device.secret, device.id, onHint));
    await own.pull();
    return own;
  }

  async push(): Promise<void> {
    if (this.isRefused) return;
    const { device } = this;
    const item = device.item({ query: create(coll('things'), { kind: 'a', owner: 1, team: 1 }) });
    const pushed = await device.tryPush(item);
    this.isRefused = isSyncRefusal(pushed);
    await this.pull();
  }

  /** Applies the pulls in hints since the last call, and compares each with the oracle. @returns how many hints had a pull */
  async takeHints(
    oracle: SyncHub,
    isShared: (device: string, pulled: Pulled) => boolean,
  ): Promise<number> {
    const { device, hints } = this;
    await everythingElse();
    let taken = 0;
    for (const { brought } of hints.splice(0)) {
      if (this.isRefused) break;
      if (!brought || brought.since !== device.cursor) {
        await this.pull();
        continue;
      }
      const message = wire({ ...device.pullMessage(), maxBytes: 65_536 });
      const own = accepted(await oracle.pull(device.secret, message));
      const told = withoutKnownSets(device.pullMessage(), brought.pulled);
      requireSame(saysOf(told), saysOf(own));
      // An evaluation for this device alone may have read for the first time what the oracle then finds changed.
      if (isShared(device.id, brought.pulled)) requireSame(false, own.check);
      const known = own.verdicts.filter(({ seq }) =>
        brought.pulled.verdicts.some((each) => each.seq === seq),
      );
      requireSame(brought.pulled.verdicts, known);
      device.take(brought.pulled);
      taken += 1;
    }
    return taken;
  }

  private async pull(): Promise<void> {
    const { device } = this;
    if (this.isRefused) return;
    const message = wire(device.pullMessage());
    const pulled = await this.device.world.sync.pull(device.secret, message);
    this.isRefused = isSyncRefusal(pulled);
    if (isSyncRefusal(pulled)) return;
    device.take(pulled);
    if (pulled.more || pulled.check || !pulled.sets.every(isLoaded)) await this.pull();
  }
}

/** Waits for all work in this process, none of which waits for anything outside. */
const everythingElse = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function requireSame(found: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(found, wanted))
    throw new Error(`Brought ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}.`);
}

const byText = (a: string, b: string): number => (a < b ? -1 : 1);

/** Everything except times, which differ if a commit without documents came in between. */
const saysOf = ({ epoch, more, lastSeq, actor, schema, puts, leaves, sets }: Pulled) => ({
  epoch,
  more,
  lastSeq,
  actor,
  schema,
  puts: puts.map((each) => JSON.stringify(each)).sort(byText),
  leaves: leaves.map((each) => JSON.stringify(each)).sort(byText),
  sets,
});
