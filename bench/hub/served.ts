/** Starts the measured programs and sends requests to them. */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Agent } from 'node:http';
import { join } from 'node:path';
import { send } from './send.ts';

/** Root secret of the hub and of the baseline. */
export const SECRET = 'burrow-root-of-a-bench-hub-which-is-known';

export interface Served {
  readonly child: ChildProcess;
  readonly port: number;
}

const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));

/** Starts a program with an IPC channel, and resolves when its output matches `pattern`. */
export function start(args: readonly string[], pattern: RegExp): Promise<Served> {
  const env = { PATH: process.env['PATH'], BURROW_ROOT_SECRET: SECRET };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  children.add(child);
  let said = '';
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`${args.join(' ')} ended: ${said}`)));
    child.stdout?.on('data', (part) => {
      said += String(part);
      const port = pattern.exec(said)?.[1];
      if (port !== undefined) resolve({ child, port: Number(port) });
    });
  });
}

export type Send = (agent: Agent, i: number) => Promise<unknown>;

export async function post(
  agent: Agent,
  port: number,
  path: string,
  body: string,
): Promise<string> {
  const { status, text } = await send(port, { agent, secret: SECRET, path, body });
  if (status >= 300) throw new Error(`${status} ${text}`);
  return text;
}

const UNLIMITED = ['--rate', '0', '--rate-address', '0', '--sockets-per-address', '1000'];

/** @param before arguments of node before the program */
export const startProgram = (
  folder: string,
  options: readonly string[],
  before: readonly string[] = [],
): Promise<Served> =>
  start(
    [
      ...before,
      join(folder, 'main.mjs'),
      'hub',
      '--port',
      '0',
      '--log-level',
      'silent',
      ...options,
    ],
    /listening on http:\/\/127\.0\.0\.1:(\d+)/,
  );

export const startHub = (folder: string, more: readonly string[]): Promise<Served> =>
  startProgram(folder, ['--concurrency', '1000', ...UNLIMITED, ...more]);

export function stop({ child }: Served): void {
  child.removeAllListeners('exit');
  child.kill('SIGKILL');
}

/** A value of the hub's Prometheus metrics. */
export async function metric(hub: Served, name: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${hub.port}/metrics`, {
    headers: { authorization: `Bearer ${SECRET}` },
  });
  const text = await answer.text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
