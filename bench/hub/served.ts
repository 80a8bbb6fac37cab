/** Programs under measurement, and how they are asked. */
import { spawn, type ChildProcess } from 'node:child_process';
import { request, type Agent } from 'node:http';
import { join } from 'node:path';

const SECRET = 'burrow-root-of-a-bench-hub-which-is-known';

export interface Served {
  readonly child: ChildProcess;
  readonly port: number;
}

const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));

export function start(args: readonly string[], pattern: RegExp): Promise<Served> {
  const env = { PATH: process.env['PATH'], BURROW_ROOT_SECRET: SECRET };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  let said = '';
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`${args.join(' ')} ended: ${said}`)));
    child.stdout.on('data', (part) => {
      said += String(part);
      const port = pattern.exec(said)?.[1];
      if (port !== undefined) resolve({ child, port: Number(port) });
    });
  });
}

export type Send = (agent: Agent, i: number) => Promise<unknown>;

export function post(agent: Agent, port: number, path: string, body: string): Promise<string> {
  const headers = {
    authorization: `Bearer ${SECRET}`,
    'x-faunadb-api-version': '4',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const sent = request({ agent, port, path, method: 'POST', headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => (text += part));
      answer.on('end', () => {
        if ((answer.statusCode ?? 0) < 300) resolve(text);
        else reject(new Error(`${answer.statusCode} ${text}`));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const UNLIMITED = ['--rate', '0', '--rate-address', '0', '--sockets-per-address', '1000'];

export function startHub(folder: string, more: readonly string[]): Promise<Served> {
  const fixed = ['hub', '--port', '0', '--log-level', 'silent', '--concurrency', '1000'];
  return start(
    [join(folder, 'main.mjs'), ...fixed, ...UNLIMITED, ...more],
    /listening on http:\/\/127\.0\.0\.1:(\d+)/,
  );
}

export function stop({ child }: Served): void {
  child.removeAllListeners('exit');
  child.kill('SIGKILL');
}

/** What the hub says of itself. */
export async function metric(hub: Served, name: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${hub.port}/metrics`, {
    headers: { authorization: `Bearer ${SECRET}` },
  });
  const text = await answer.text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
