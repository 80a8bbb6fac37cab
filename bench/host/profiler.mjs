// Profiles the CPU time of a page's worker, over the Chrome DevTools Protocol.
import { sleep } from './tabs.mjs';

/**
 * @template T
 * @param {import('playwright').Page} page @param {() => Promise<T>} work
 */
export async function profileWorker(page, work) {
  const { send, detach } = await attach(page);
  return profile(send, detach, work);
}

/**
 * Profiles the CPU time of the page's own thread.
 * @template T
 * @param {import('playwright').Page} page @param {() => Promise<T>} work
 */
export async function profilePage(page, work) {
  const session = await page.context().newCDPSession(page);
  const send = (/** @type {any} */ method, params = {}) => session.send(method, params);
  return profile(send, () => session.detach(), work);
}

/**
 * @template T
 * @param {(method: string, params?: object) => Promise<any>} send @param {() => Promise<void>} detach @param {() => Promise<T>} work
 */
async function profile(send, detach, work) {
  await send('Profiler.enable');
  await send('Profiler.setSamplingInterval', { interval: 200 });
  await send('Profiler.start');
  const times = await work();
  const { profile: seen } = await send('Profiler.stop');
  await detach();
  return { times, profile: seen, ...sums(seen) };
}

/**
 * Memory of the page's worker after a garbage collection, in MB: objects, the browser's memory for them, and buffers.
 * @param {import('playwright').Page} page @returns {Promise<number>}
 */
export async function workerMemory(page) {
  const { send, detach } = await attach(page);
  await send('HeapProfiler.collectGarbage');
  const {
    usedSize,
    embedderHeapUsedSize = 0,
    backingStorageSize = 0,
  } = await send('Runtime.getHeapUsage');
  await detach();
  return (usedSize + embedderHeapUsedSize + backingStorageSize) / 1024 / 1024;
}

/**
 * Sends commands to the page's worker, wrapped in messages of the page's own session.
 * @param {import('playwright').Page} page
 */
async function attach(page) {
  const session = await page.context().newCDPSession(page);
  /** @type {string[]} */
  const workers = [];
  /** @type {Map<number, (answer: any) => void>} */
  const waiting = new Map();
  session.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
    if (targetInfo.type === 'worker') workers.push(sessionId);
  });
  session.on('Target.receivedMessageFromTarget', ({ message }) => {
    const { id, ...answer } = JSON.parse(message);
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  await session.send('Target.setAutoAttach', {
    autoAttach: true,
    waitForDebuggerOnStart: false,
    flatten: false,
  });
  await sleep(300);
  const [sessionId] = workers;
  if (sessionId === undefined) throw new Error('The page has no worker.');
  let last = 0;
  const send = async (/** @type {string} */ method, params = {}) => {
    const id = ++last;
    const answered = new Promise((resolve) => {
      waiting.set(id, resolve);
    });
    const message = JSON.stringify({ id, method, params });
    await session.send('Target.sendMessageToTarget', { sessionId, message });
    const { result, error } = await answered;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  return { send, detach: () => session.detach() };
}

/** CPU time by function in ms, with and without the functions that it calls. @param {any} profile */
function sums(profile) {
  const nodes = new Map(profile.nodes.map((/** @type {any} */ node) => [node.id, node]));
  const parents = new Map();
  for (const { id, children = [] } of profile.nodes) {
    for (const child of children) parents.set(child, id);
  }
  const nameOf = (/** @type {number} */ id) => {
    const { functionName, lineNumber } = nodes.get(id).callFrame;
    return `${functionName || '(anonymous)'}:${lineNumber + 1}`;
  };
  /** @type {Map<string, number>} */
  const inclusive = new Map();
  /** @type {Map<string, number>} */
  const own = new Map();
  profile.samples.forEach((/** @type {number} */ sample, /** @type {number} */ at) => {
    const ms = profile.timeDeltas[at] / 1000;
    own.set(nameOf(sample), (own.get(nameOf(sample)) ?? 0) + ms);
    const stack = new Set();
    for (let id = sample; id !== undefined; id = parents.get(id)) stack.add(nameOf(id));
    for (const name of stack) inclusive.set(name, (inclusive.get(name) ?? 0) + ms);
  });
  const sorted = (/** @type {Map<string, number>} */ map) =>
    [...map].map(([name, ms]) => ({ name, ms })).sort((a, b) => b.ms - a.ms);
  return { inclusive: sorted(inclusive), own: sorted(own) };
}
