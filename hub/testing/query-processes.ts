/** Test kit: processes that run queries on one server, can be killed at any moment, and are then started again. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import type { Answered, Asked } from './query-process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Bundles the program of the processes, because Node does not run TypeScript, into a folder from which its packages can be
 * imported. Returns its path.
 */
export async function buildQueryProcess(): Promise<string> {
  const folder = join(root, 'node_modules/.burrow-tests');
  await mkdir(folder, { recursive: true });
  const file = join(folder, `query-process-${process.pid}.mjs`);
  const bundle = await rolldown({
    input: join(root, 'hub/testing/query-process.ts'),
    platform: 'node',
    external: (id) => !/^(\.|\/|[A-Z]:)/u.test(id),
  });
  await bundle.write({ file, format: 'esm', codeSplitting: false });
  await bundle.close();
  return file;
}

export const removeBuilt = (file: string): Promise<void> => rm(file, { force: true });

/** A process that is started again after it was killed. */
export class QueryProcess {
  private readonly start: () => ChildProcess;
  private child: Promise<ChildProcess>;
  private readonly waiting = new Map<number, (answered: Answered | undefined) => void>();
  private asked = 0;
  private isOver = false;

  constructor(file: string, args: readonly string[]) {
    this.start = () => fork(file, [...args], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.child = this.begin();
  }

  /** @returns undefined if the process ended before it answered */
  async ask(query: unknown): Promise<Answered | undefined> {
    const child = await this.child;
    return new Promise((resolve) => {
      const asked: Asked = { id: (this.asked += 1), body: JSON.stringify(query) };
      this.waiting.set(asked.id, resolve);
      child.send(asked, (error) => {
        if (error) this.settle(asked.id, undefined);
      });
    });
  }

  async kill(): Promise<void> {
    (await this.child).kill('SIGKILL');
  }

  async end(): Promise<void> {
    this.isOver = true;
    const child = await this.child;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  private async begin(): Promise<ChildProcess> {
    for (;;) {
      const child = this.start();
      const gone = once(child, 'exit').then(() => 'gone' as const);
      // The process may be killed while it opens its store.
      if ((await Promise.race([gone, once(child, 'message')])) === 'gone') continue;
      child.on('message', (answered: Answered) => this.settle(answered.id, answered));
      child.once('exit', () => {
        for (const id of this.waiting.keys()) this.settle(id, undefined);
        if (!this.isOver) this.child = this.begin();
      });
      return child;
    }
  }

  private settle(id: number, answered: Answered | undefined): void {
    this.waiting.get(id)?.(answered);
    this.waiting.delete(id);
  }
}
