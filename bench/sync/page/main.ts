/** `window.bench` of the sync benchmark. Times are in ms, by the clock of `performance.timeOrigin`, which pages and Node share. */
import { contenders } from 'virtual:sync-contenders';
import { BurrowSync } from './burrow.ts';
import { loadByHand } from './by-hand.ts';
import { pushMarks, queriesOf, submitMany, updateMany } from './burrow-queues.ts';
import type { Note, SyncContender, SyncOptions } from './contender.ts';
import { watchGaps } from './gaps.ts';

const now = (): number => performance.timeOrigin + performance.now();

let opened: SyncContender | undefined;
function contender(): SyncContender {
  if (!opened) throw new Error('Nothing is open.');
  return opened;
}

function burrow(): BurrowSync {
  if (opened instanceof BurrowSync) return opened;
  throw new Error('Only Burrow has that.');
}

const seen = new Map<string, number>();
const awaited = new Map<string, (at: number) => void>();

const bench = {
  now,
  async open(name: string, options: SyncOptions) {
    const module = await contenders[name]?.();
    if (!module) throw new Error(`No contender is called ${name}.`);
    const made = module.create();
    await made.open(options);
    opened = made;
    return module.title;
  },
  /** Records when each text of the room is first shown. */
  watch: (room: string) =>
    contender().watch(room, (texts) => {
      const at = now();
      for (const text of texts) {
        if (seen.has(text)) continue;
        seen.set(text, at);
        awaited.get(text)?.(at);
      }
    }),
  async write(note: Note) {
    const begun = now();
    await contender().write(note);
    return { begun, stored: now() };
  },
  seenAt: (text: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const at = seen.get(text);
      if (at !== undefined) return resolve(at);
      awaited.set(text, resolve);
      setTimeout(() => reject(new Error(`${text} was not shown.`)), 20_000);
    }),
  submitMany: (notes: readonly Note[]) => submitMany(burrow().sync, notes),
  updateMany: (ids: readonly string[]) => updateMany(burrow().sync, ids),
  whenSettled: () => burrow().sync.whenSettled(),
  whenSynced: () => burrow().sync.whenSynced(),
  pushMarks: () => pushMarks(burrow().sync),
  queriesOf,
  loadByHand,
  watchGaps,
};

export type SyncBench = typeof bench;

Object.assign(window, { bench });
