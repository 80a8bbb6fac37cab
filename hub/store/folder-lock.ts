/** A lock on a folder: PGlite does not notice another process that writes the same files. */
import { link, readFile, readlink, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf, messageOf } from '../../hosts/node-errors.ts';
import { membersOf, tryJson } from '../../src/codec/plain-json.ts';
import { Refusal } from '../../src/errors.ts';
import {
  isListening,
  listenAt,
  otherListening,
  placeOf,
  socketOf,
  type SocketHolder,
} from './lock-socket.ts';
import { makeFolder } from './new-folder.ts';

export interface TakenFolder {
  readonly path: string;
  /** The folder in which PGlite keeps its files. */
  readonly data: string;
  /** The id of the user who owns the files that this process creates in the folder. */
  readonly user: number;
  release(): Promise<void>;
}

interface Holder extends SocketHolder {
  readonly host: string;
  readonly since: string;
  /** In which `pid` is valid, if the system reports it. A container has its own namespace, even if it has the name of its host. */
  readonly pidNamespace?: string | undefined;
}

const LOCK = 'burrow.lock';
/**
 * The holder touches the lock file at this interval. Where no socket can be used, processes on other hosts and in later
 * containers see by this that the holder is alive.
 */
const BEAT_MS = 4000;
const SILENCE_MS = 12_000;
/**
 * How long to wait for another listening process. A process that listens but does not get the lock stops listening at once, so
 * one that still listens after this time uses the folder.
 */
const OTHERS_MS = 5000;
const LOOK_MS = 50;

/** The folder, inside the folder of the hub, in which PGlite keeps its files. */
export const dataIn = (folder: string): string => join(resolve(folder), 'pglite');

/** Paths of the locks that this process holds. */
const heldHere = new Set<string>();

/**
 * @param say prints that a stale lock was found
 * @throws Refusal `storage_blocked` when another process holds the lock, `storage_unavailable` when the folder cannot be used
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
    pidNamespace: await readlink('/proc/self/ns/pid').catch(() => undefined),
  };
  const socket = socketOf(path, own);
  let stopListening: Awaited<ReturnType<typeof listenAt>>;
  let user: number;
  try {
    await makeFolder(path);
    const place = await placeOf(path, socket);
    // The socket must exist before the lock file, because other processes check it as soon as they find the lock.
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
      // The socket is closed after the lock file is removed: a process that finds the lock without a listener would take it over.
      await stopListening?.();
    },
  };
}

/**
 * Makes sure that no other process uses the folder although its lock file was removed: two processes would destroy the database.
 * @throws Refusal `storage_blocked`
 */
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

/** The file is written under another name and then linked, so that no process reads it half written. */
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
  // If two processes find the same stale lock, only one of them can rename it.
  const beside = `${lock}.${randomUUID()}.stale`;
  try {
    await rename(lock, beside);
  } catch (reason) {
    if (codeOf(reason) === 'ENOENT') return;
    throw reason;
  }
  if (!isSame(await readHolder(beside), holder)) {
    // Another process took the lock after it was read here.
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
  const holder = membersOf(tryJson(text)) as Partial<Holder>;
  const { pid, host, since = '', started, pidNamespace, place } = holder;
  if (typeof pid !== 'number' || typeof host !== 'string') return 'unreadable';
  return { pid, host, since, started, pidNamespace, place };
}

const isSame = (a: Holder | 'unreadable' | undefined, b: typeof a): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

async function isAlive(
  lock: string,
  { pid, host, started, pidNamespace }: Holder,
  own: Holder,
  say: (sentence: string) => void,
): Promise<boolean> {
  const isElsewhere = pidNamespace !== undefined && pidNamespace !== own.pidNamespace;
  if (host !== own.host || isElsewhere) {
    // A process of another host or container cannot be checked by its pid.
    say(
      `The lock ${lock} belongs to ${host}: checking for ${SILENCE_MS / 1000} s whether it is alive.`,
    );
    return beats(lock);
  }
  // In a restarted container, processes may get the same pids again, so the same pid alone does not mean that this process holds
  // the lock.
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
 * Reads the state of a process. A killed process (a zombie) still accepts signals until its parent has read its exit status,
 * which may never happen.
 * @returns undefined where there is no /proc
 */
async function processState(
  pid: number,
): Promise<{ readonly hasEnded: boolean; readonly started: string } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  // The fields start after the name of the program, which may contain anything, including parentheses.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', started] = [fields?.[0], fields?.[STARTED_FIELD]];
  return started === undefined ? undefined : { hasEnded: 'ZX'.includes(state), started };
}

/** Index of the start time among the fields after the name, in ticks since the machine was started. */
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
