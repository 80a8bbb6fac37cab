/** Random pushes of a device that claims wrong times, to a hub whose clock is known. */
import { obj } from '../../engine/testing/engine-world.ts';
import { RandomSource } from '../../engine/testing/random-source.ts';
import type { Played } from '../../engine/testing/model/play.ts';
import { SYNC_LIMITS } from '../../limits.ts';
import { HubWorld, type Device } from './hub-world.ts';

const CASES_PER_WORLD = 40;
const SECOND = 1_000_000;
const DAY = 86_400 * SECOND;
const { nowAheadMicros: AHEAD } = SYNC_LIMITS;

const now = { to_micros: { now: null } };
/** The time as the device itself sees it, and as a function with a role of its own sees it. */
const ASKED = [now, { call: { function: 'hub_time' }, arguments: null }];

async function openWorld(): Promise<HubWorld> {
  const world = await HubWorld.open();
  const body = { query: { lambda: '_', expr: now } };
  await world.ask({ create_function: obj({ name: 'hub_time', body, role: 'server' }) });
  return world;
}

/** Plays the given number of cases, or stops at the first wrong time. */
export async function play(cases: number, seed: number): Promise<Played> {
  let values = 0;
  for (let first = 0; first < cases; first += CASES_PER_WORLD) {
    const difference = await playInWorld(first, seed, () => (values += 1));
    if (difference) return { values, faults: 0, silent: 0, difference };
  }
  return { values, faults: 0, silent: 0, difference: undefined };
}

async function playInWorld(
  first: number,
  seed: number,
  count: () => void,
): Promise<Played['difference']> {
  const random = new RandomSource(seed + first);
  const world = await openWorld();
  const device = await world.device();
  const story: string[] = [];
  /** The earliest time that a write may have: that of the last write, or of the last contact with nothing unsent. */
  let since = world.now - AHEAD;
  for (let n = 0; n < CASES_PER_WORLD; n += 1) {
    if (random.chance(0.3)) world.now += random.below(20) * DAY;
    if (random.chance(0.3)) {
      await device.hello();
      since = Math.max(since, world.now - AHEAD);
      story.push(`hello at ${world.now}`);
    }
    // Each time differs: a second write with the same time and query would count as the first one sent again.
    const claimed = world.now + random.pick(CLAIMS)(random) + n;
    const pushed = await times(device, claimed);
    story.push(`at ${world.now}, not before ${since}, ${claimed} is ${pushed.join(' and ')}`);
    const [own, others] = pushed;
    const told = wrongIn({ own, others, claimed, since, hub: world.now });
    if (told !== undefined) {
      const start = `case ${first + n} of seed ${seed}`;
      return {
        story: [start, ...story].join('\n'),
        told,
        answered: pushed.join(' and '),
      };
    }
    since = own ?? since;
    count();
  }
  return undefined;
}

/** Claimed times, relative to the hub's clock, µs. */
const CLAIMS: readonly ((random: RandomSource) => number)[] = [
  // Half a day off the limit of one year, because the hub's clock advances by microseconds in between.
  (random) => -random.below(600) * DAY - DAY / 2,
  (random) => -random.below(200 * SECOND),
  (random) => random.below(AHEAD),
  (random) => AHEAD + 10 * SECOND + random.below(100 * DAY),
];

/** The times in the answer. Empty if the write was refused, as it is if its time is too old. */
async function times(device: Device, claimed: number): Promise<readonly number[]> {
  const { verdicts } = await device.push(device.item({ query: ASKED, now: claimed }));
  const { resource } = JSON.parse(verdicts[0]?.body ?? '{}') as { resource?: readonly number[] };
  return resource ?? [];
}

interface Seen {
  readonly own: number | undefined;
  readonly others: number | undefined;
  readonly claimed: number;
  readonly since: number;
  readonly hub: number;
}

function wrongIn({ own, others, claimed, since, hub }: Seen): string | undefined {
  const isRefused = own === undefined || others === undefined;
  if (claimed < hub - SYNC_LIMITS.devicesKeptMicros)
    return isRefused ? undefined : 'A write is made that a forgotten device may have sent before.';
  if (isRefused) return 'A write is refused for its time.';
  if (own < since) return 'A time is before the last one, or the last contact.';
  if (own > Math.max(hub + AHEAD, since)) return 'A time is ahead of the hub.';
  if (claimed >= since && claimed <= hub + AHEAD && own !== claimed)
    return 'A good time is not believed.';
  if (Math.abs(others - hub) > SECOND) return 'Another role is told the time of the device.';
  return undefined;
}
