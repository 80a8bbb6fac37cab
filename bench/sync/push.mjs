// Pushes writes that were made without network, compared with the same queries sent to the hub one after the other.
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { gateWorkers, openSide, setNetwork } from './browsers.mjs';

const TURNS = 1;

/**
 * Sends queries one after the other, on one connection.
 * @param {{ url: string; secret: string }} server @param {readonly string[]} queries
 */
async function sendDirectly({ url, secret }, queries) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' };
  const begun = performance.now();
  for (const query of queries) {
    const sent = request(url, { agent, method: 'POST', headers });
    sent.end(query);
    const [answer] = await once(sent, 'response');
    answer.resume();
    await once(answer, 'end');
    if (answer.statusCode !== 201) throw new Error(`The hub answered with ${answer.statusCode}.`);
  }
  const ms = performance.now() - begun;
  agent.destroy();
  return ms;
}

/** @param {import('./latency.mjs').Slot} slot @param {{ queued: number }} sizes */
export async function measurePush({ contender, round, pageUrl, browsers, server }, { queued }) {
  const { page, close } = await openSide(browsers.a, pageUrl);
  gateWorkers(page);
  const options = { url: server.url, secret: server.secret, name: contender };
  await page.evaluate(
    ([name, given]) => window.bench.open(name, given),
    /** @type {const} */ ([contender, options]),
  );
  const results = { pushed: [], direct: [], submitted: [], synced: [] };
  for (let turn = 0; turn < TURNS; turn++) {
    const notesOf = (/** @type {string} */ way) =>
      Array.from({ length: queued }, (_, i) => ({
        room: `${way} ${contender} ${round} ${turn}`,
        text: `${way} ${i}`,
      }));
    const direct = async () => {
      await setNetwork(page, 'open');
      const given = notesOf('direct');
      const queries = await page.evaluate((notes) => window.bench.queriesOf(notes), given);
      results.direct.push(await sendDirectly(server, queries));
      await page.evaluate(() => window.bench.whenSynced());
    };
    const push = async () => {
      await setNetwork(page, 'offline');
      const notes = notesOf('pushed');
      results.submitted.push(await page.evaluate((each) => window.bench.submitMany(each), notes));
      const begun = performance.now();
      await setNetwork(page, 'open');
      await page.evaluate(() => window.bench.whenSettled());
      results.pushed.push(performance.now() - begun);
      await page.evaluate(() => window.bench.whenSynced());
      results.synced.push(performance.now() - begun);
      const { local = 0, refused = 0 } = await page.evaluate(() => window.bench.pushMarks());
      if (local + refused > 0) throw new Error(`Wrong answer: ${local} local, ${refused} refused.`);
    };
    for (const work of (round + turn) % 2 === 0 ? [direct, push] : [push, direct]) await work();
  }
  await close();
  return results;
}
