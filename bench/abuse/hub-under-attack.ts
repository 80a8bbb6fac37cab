/** A hub in a process of its own, with its default bounds, whose event loop and memory are watched. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export const ROOT_SECRET = 'burrow-root-of-a-hub-under-attack-which-is-known';

export interface Watched {
  /** The longest time since the last look for which nothing else was served. */
  readonly delayMs: number;
  readonly memoryBytes: number;
}

export interface HubUnderAttack {
  readonly port: number;
  readonly look: () => Promise<Watched>;
  readonly stop: () => Promise<void>;
}

const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** @param more what it keeps its data in */
export async function startHub(folder: string, more: readonly string[]): Promise<HubUnderAttack> {
  const args = ['--import', join(folder, 'probe.mjs'), join(folder, 'main.mjs'), 'hub'];
  const child = spawn(
    process.execPath,
    [...args, '--port', '0', '--log-level', 'silent', '--hash-cost', '10', ...more],
    {
      env: { PATH: process.env['PATH'], BURROW_ROOT_SECRET: ROOT_SECRET },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    },
  );
  children.add(child);
  const port = await portOf(child);
  return {
    port,
    async look() {
      const answered = once(child, 'message');
      child.send('look');
      const [seen] = (await answered) as [Watched];
      return seen;
    },
    async stop() {
      children.delete(child);
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function portOf(child: ChildProcess): Promise<number> {
  let said = '';
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`The hub ended: ${said}`)));
    child.stdout?.on('data', (part) => {
      said += String(part);
      const port = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
  });
}
