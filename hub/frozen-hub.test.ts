/** A hub whose process is stopped: its clients wait, and another hub on the same database continues. Promises S1, L8. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { HubProcess } from './testing/hub-process.ts';
import { hubProcesses } from './testing/hub-processes.ts';
import { sharedPostgres } from './testing/hub-stores.ts';

const postgres = sharedPostgres();
const { prepared, open } = hubProcesses();

const counter = { ref: { collection: 'counters' }, id: '1' };
const count = { select: ['data', 'n'], from: { get: counter } };
const increment = {
  update: counter,
  params: { object: { data: { object: { n: { add: [count, 1] } } } } },
};

async function makeCounter(hub: HubProcess): Promise<void> {
  expect((await hub.query({ create_collection: { object: { name: 'counters' } } })).status).toBe(
    201,
  );
  const made = { create: counter, params: { object: { data: { object: { n: 0 } } } } };
  expect((await hub.query(made)).status).toBe(201);
}

/** The state of the process as reported by /proc. */
async function stateOf({ child }: HubProcess): Promise<string | undefined> {
  const text = await readFile(`/proc/${child.pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[0];
}

/** Sends increments at the same time and records the result of each. */
function send(hub: HubProcess, times: number) {
  const settled: string[] = [];
  const all = Array.from({ length: times }, async () => {
    settled.push(
      await hub.query(increment).then(
        ({ status, body }) =>
          status === 200 ? 'done' : (body.errors?.[0]?.code ?? `status ${status}`),
        () => 'no answer',
      ),
    );
  });
  return {
    settled,
    done: () => settled.filter((each) => each === 'done').length,
    unknown: () => settled.filter((each) => each === 'no answer').length,
    end: () => Promise.all(all),
  };
}

/** What a caller may be told of a write whose hub waits for the lock: that it was made, or one of these refusals. */
const REFUSED =
  /^(done|processing time limit exceeded|time out|contended transaction|storage_\w+)$/;

const OR_BROKEN_OFF = new RegExp(`${REFUSED.source}|^no answer$`);

test('a hub frozen during a commit blocks other hubs for a limited time, and no write is executed twice', async () => {
  const { url } = await postgres();
  const args = ['--postgres', url, '--query-timeout', '5000'];
  const living = await open({ args });
  await makeCounter(living);
  const frozen = await open({ args, environment: { HUB_FAILPOINT: 'before-commit:stop' } });
  const theirs = send(frozen, 5);
  await expect.poll(() => stateOf(frozen)).toBe('T');

  // The stopped hub holds the lock on the sequencer row: writers wait, readers do not.
  const early = send(living, 3);
  for (let i = 0; i < 20; i += 1) expect((await living.query(count)).body.resource).toBe(0);
  expect(early.settled).toEqual([]);
  await early.end();
  for (const each of early.settled) expect(each).toMatch(REFUSED);
  const late = send(living, 3);
  await late.end();
  expect(late.settled).toEqual(['done', 'done', 'done']);
  expect((await living.query(count)).body.resource).toBe(early.done() + late.done());
  expect(await stateOf(frozen)).toBe('T');
  expect(theirs.settled).toEqual([]);

  frozen.child.kill('SIGCONT');
  await theirs.end();
  // For a request that it had not read yet, the resumed hub only knows that its time is over, so it closes the connection.
  for (const each of theirs.settled) expect(each).toMatch(OR_BROKEN_OFF);
  const again = send(frozen, 2);
  await again.end();
  expect(again.settled).toEqual(['done', 'done']);
  const sum = early.done() + late.done() + theirs.done() + again.done();
  const counted = (await living.query(count)).body.resource;
  expect(counted).toBeGreaterThanOrEqual(sum);
  expect(counted).toBeLessThanOrEqual(sum + theirs.unknown());
  expect((await frozen.query(count)).body.resource).toBe(counted);
});

test('a hub that was frozen answers its clients when it continues', async () => {
  const data = await prepared();
  const hub = await open({ args: ['--data', data] });
  await makeCounter(hub);
  const before = send(hub, 20);
  hub.child.kill('SIGSTOP');
  await expect.poll(() => stateOf(hub)).toBe('T');
  const during = send(hub, 20);
  const known = before.settled.length;
  hub.child.kill('SIGCONT');
  await Promise.all([before.end(), during.end()]);
  expect(known).toBeLessThan(20);
  for (const each of [...before.settled, ...during.settled]) expect(each).toMatch(REFUSED);
  expect((await hub.query(count)).body.resource).toBe(before.done() + during.done());
  expect(during.done()).toBeGreaterThan(0);
});
