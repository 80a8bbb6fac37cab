import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ROOT } from '../../engine/testing/engine-world.ts';
import { HUB_TIME_MAX } from './identifiers.ts';
import { ANSWERS, REQUEST_NAMES, type RequestName } from './messages.ts';
import { SchemaMismatch } from './schema.ts';
import type { SyncRefusal } from './refusals.ts';
import { HubWorld, wire } from '../testing/hub-world.ts';

/** A valid message with one member replaced by a random value. */
const spoiled = (message: object) =>
  fc
    .tuple(fc.constantFrom(...Object.keys(message)), fc.jsonValue())
    .map(([name, value]) => wire({ ...message, [name]: value }));

test('random messages are answered or refused, and have no effect', async () => {
  const world = await HubWorld.open();
  await world.ask({ create_collection: { object: { name: 'things' } } });
  const device = (await world.device()).watch({ documents: { collection: 'things' } });
  await device.pull();
  const { id, epoch } = device;
  const buckets = Array.from({ length: 256 }, () => '0'.repeat(16));
  const [set] = device.sets;
  const messages: Readonly<Record<RequestName, object>> = {
    hello: device.helloMessage(),
    push: device.pushMessage([]),
    pull: device.pullMessage(),
    check: { device: id, epoch, set: { id: set?.id, query: set?.query }, buckets },
  };
  const message = fc
    .constantFrom(...REQUEST_NAMES)
    .chain((name) =>
      fc.tuple(
        fc.constant(name),
        fc.oneof(
          { weight: 1, arbitrary: fc.jsonValue() },
          { weight: 5, arbitrary: spoiled(messages[name]) },
        ),
      ),
    );
  await fc.assert(
    fc.asyncProperty(message, async ([name, each]) => {
      const answer = (await world.sync[name](ROOT, each)) as Partial<SyncRefusal>;
      expect(typeof answer.description).toBe(typeof answer.code);
    }),
    { numRuns: 500 },
  );
  expect(await device.hello()).toMatchObject({ lastSeq: 0 });
});

test('a device refuses a time of the hub after which it could not commit', async () => {
  const world = await HubWorld.open();
  const device = await world.device();
  const welcome = await world.sync.hello(ROOT, device.helloMessage());
  const pulled = await world.sync.pull(ROOT, device.pullMessage());
  const read = (time: number) => [
    () => ANSWERS.hello(wire({ ...welcome, hubTime: time }), 'hello').hubTime,
    () => ANSWERS.pull(wire({ ...pulled, cursor: time }), 'pull').cursor,
  ];
  for (const each of read(HUB_TIME_MAX)) expect(each()).toBe(HUB_TIME_MAX);
  for (const time of [HUB_TIME_MAX + 1, Number.MAX_SAFE_INTEGER, -1])
    for (const each of read(time)) expect(each).toThrow(SchemaMismatch);
});
