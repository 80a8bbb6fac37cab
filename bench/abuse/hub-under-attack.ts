/** Starts a hub with default limits as a process, and observes its event loop and memory. */
import { once } from 'node:events';
import { join } from 'node:path';
import { startProgram } from '../hub/served.ts';

export interface Watched {
  /** The longest time, since the last look, in which the event loop was blocked. */
  readonly delayMs: number;
  readonly memoryBytes: number;
}

export interface HubUnderAttack {
  readonly port: number;
  readonly look: () => Promise<Watched>;
  readonly stop: () => Promise<void>;
}

/** @param more options that set where the hub stores its data */
export async function startHub(folder: string, more: readonly string[]): Promise<HubUnderAttack> {
  const probe = ['--import', join(folder, 'probe.mjs')];
  const { child, port } = await startProgram(folder, ['--hash-cost', '10', ...more], probe);
  return {
    port,
    async look() {
      const answered = once(child, 'message');
      child.send('look');
      const [seen] = (await answered) as [Watched];
      return seen;
    },
    async stop() {
      child.removeAllListeners('exit');
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
