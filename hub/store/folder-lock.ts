/** A lock on a folder: PGlite does not notice another process that writes the same files. */
import {
  link,
  mkdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf, messageOf } from '../../hosts/node-errors.ts';
import { Refusal } from '../../src/errors.ts';
import {
  isListening,
  listenAt,
  otherListening,
  placeOf,
  socketOf,
  type SocketHolder,
} from './lock-socket.ts';

export interface TakenFolder {
  readonly path: string;
  /** Where PGlite keeps its files. */
  readonly data: string;
  /** The number of the user to whom belongs what this process makes there. */
  readonly user: number;
  release(): Promise<void>;
}

interface Holder extends SocketHolder {
  readonly host: string;
  readonly since: string;
  /** In which its number means something: a container has one of its own, though it may have the name of its host. Where the system says. */
  readonly numbers?: string | undefined;
}

const LOCK = 'burrow.lock';
/** The holder touches the lock file, so that processes on other hosts or in later containers see that it is alive where no socket tells it. */
const BEAT_MS = 4000;
const SILENCE_MS = 12_000;
/** Who listens and does not get the lock stops at once. */
const OTHERS_MS = 5000;
const LOOK_MS = 50;

/** Where in a folder PGlite keeps its files. */
export const dataIn = (folder: string): string => join(resolve(folder), 'pglite');

/** Locks of this process. */
const heldHere = new Set<string>();

/**
 * @param say prints that a stale lock was found
 * @throws Refusal `storage_blocked` when another process has it, `storage_unavailable` when it cannot be used
 */
export async function takeFolder(
  folder: string,
  say: (sentence: string) => void,
): Promise<TakenFolder> {
  const path = resolve(folder);
  const lock = join(path, LOCK);
  let own: Holder = {
    pid: process.pid,
    host: hostname(),
    since: new Date().toISOString(),
    started: (await processState(process.pid))?.started,
    numbers: await readlink('/proc/self/ns/pid').catch(() => undefined),
  };
  const socket = socketOf(path, own);
  let stopListening: Awaited<ReturnType<typeof listenAt>>;
  let user: number;
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const place = await placeOf(path, socket);
    // Before the lock is there.
    if (place !== undefined) stopListening = await listenAt(socket);
    if (stopListening) own = { ...own, place };
    while (!(await tryLock(lock, own))) await clearStale(lock, own, say);
    ({ uid: user } = await stat(lock));
    await requireAlone(path, lock, own);
  } catch (reason) {
    await stopListening?.();
    if (reason instanceof Refusal) throw reason;
    throw new Refusal(
      'storage_unavailable',
      `Cannot use the folder ${path}: ${messageOf(reason)}.`,
      { cause: reason },
    );
  }
  heldHere.add(lock);
  const beat = setInterval(() => {
    const now = new Date();
    utimes(lock, now, now).catch(() => undefined);
  }, BEAT_MS).unref();
  return {
    path,
    data: dataIn(path),
    user,
    async release() {
      clearInterval(beat);
      heldHere.delete(lock);
      if (isSame(await readHolder(lock), own)) await rm(lock, { force: true });
      // After the lock: who finds that nobody listens takes it over.
      await stopListening?.();
    },
  };
}

/** A lock can be removed while its process lives: two of them would destroy the database. @throws Refusal `storage_blocked` */
async function requireAlone(folder: string, lock: string, own: Holder): Promise<void> {
  const until = performance.now() + OTHERS_MS;
  for (;;) {
    const pid = await otherListening(folder, own);
    if (pid === undefined) return;
    if (performance.now() > until) {
      await rm(lock, { force: true });
      throw new Refusal(
        'storage_blocked',
        `Process ${pid} has the folder ${folder} open, though its lock was removed: stop it, or use another folder.`,
      );
    }
    await wait(LOOK_MS);
  }
}

/** Written beside it and linked into place: nobody reads half of it. */
async function tryLock(lock: string, own: Holder): Promise<boolean> {
  const beside = `${lock}.${randomUUID()}.new`;
  await writeFile(beside, JSON.stringify(own), { mode: 0o600, flush: true });
  try {
    await link(beside, lock);
    return true;
  } catch (reason) {
    if (codeOf(reason) === 'EEXIST') return false;
    throw reason;
  } finally {
    await rm(beside, { force: true });
  }
}

async function clearStale(
  lock: string,
  own: Holder,
  say: (sentence: string) => void,
): Promise<void> {
  const holder = await readHolder(lock);
  if (holder === undefined) return;
  const folder = dirname(lock);
  if (
    holder !== 'unreadable' &&
    ((await isListening(folder, holder)) ?? (await isAlive(lock, holder, own, say)))
  )
    throw new Refusal(
      'storage_blocked',
      `Process ${holder.pid} on ${holder.host} has had the folder open since ${holder.since}: stop it, or use another folder (lock: ${lock}).`,
    );
  // Of two processes that find the same stale lock only one can move it away.
  const beside = `${lock}.${randomUUID()}.stale`;
  try {
    await rename(lock, beside);
  } catch (reason) {
    if (codeOf(reason) === 'ENOENT') return;
    throw reason;
  }
  if (!isSame(await readHolder(beside), holder)) {
    // Another process took it after it was read.
    await rename(beside, lock);
    return;
  }
  await rm(beside, { force: true });
  if (holder !== 'unreadable') await rm(socketOf(folder, holder), { force: true });
  say(
    holder === 'unreadable'
      ? `Took over the lock ${lock}: it could not be read, so its process has ended.`
      : `Took over the lock ${lock} of process ${holder.pid} on ${holder.host}, which has ended.`,
  );
}

async function readHolder(lock: string): Promise<Holder | 'unreadable' | undefined> {
  let text: string;
  try {
    text = await readFile(lock, 'utf8');
  } catch (reason) {
    if (codeOf(reason) === 'ENOENT') return undefined;
    throw reason;
  }
  try {
    const { pid, host, since = '', started, numbers, place } = JSON.parse(text) as Partial<Holder>;
    if (typeof pid !== 'number' || typeof host !== 'string') return 'unreadable';
    return { pid, host, since, started, numbers, place };
  } catch {
    return 'unreadable';
  }
}

const isSame = (a: Holder | 'unreadable' | undefined, b: typeof a): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

async function isAlive(
  lock: string,
  { pid, host, started, numbers }: Holder,
  own: Holder,
  say: (sentence: string) => void,
): Promise<boolean> {
  const isElsewhere = numbers !== undefined && numbers !== own.numbers;
  if (host !== own.host || isElsewhere) {
    // A process of another host or container cannot be probed.
    say(
      `The lock ${lock} belongs to ${host}: checking for ${SILENCE_MS / 1000} s whether it is alive.`,
    );
    return beats(lock);
  }
  // A restarted container gives processes the same numbers again.
  if (pid === own.pid) return heldHere.has(lock);
  try {
    process.kill(pid, 0);
  } catch (reason) {
    return codeOf(reason) !== 'ESRCH';
  }
  const state = await processState(pid);
  if (state === undefined) return true;
  return !state.hasEnded && (started === undefined || state.started === started);
}

/**
 * A process that was killed answers signals until its parent reads its exit status, which may take for ever.
 * @returns undefined where there is no /proc
 */
async function processState(
  pid: number,
): Promise<{ readonly hasEnded: boolean; readonly started: string } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  // The name before it may hold anything, parentheses too.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', started] = [fields?.[0], fields?.[STARTED_FIELD]];
  return started === undefined ? undefined : { hasEnded: 'ZX'.includes(state), started };
}

/** Counted after the name: ticks since the machine started. */
const STARTED_FIELD = 19;

async function beats(lock: string): Promise<boolean> {
  const before = await touchedAt(lock);
  await wait(SILENCE_MS);
  return before !== undefined && (await touchedAt(lock)) !== before;
}

const touchedAt = (lock: string): Promise<number | undefined> =>
  stat(lock).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
