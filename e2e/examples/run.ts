import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const root = join(import.meta.dirname, '../..');

interface Where {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

const isWindows = process.platform === 'win32';
const outputBytesMax = 64 * 1024 * 1024;

/** The environment of a user's shell: the NODE_ENV of a test runner would change the build. */
const environment = (more: Where['env']): NodeJS.ProcessEnv => {
  const { NODE_ENV: _, ...own } = process.env;
  return { ...own, NEXT_TELEMETRY_DISABLED: '1', PARCEL_WORKERS: '0', ...more };
};

/** @returns its output @throws with its output when it fails */
export async function run(command: string, args: readonly string[], where: Where): Promise<string> {
  const options = { ...where, env: environment(where.env), shell: isWindows };
  try {
    const { stdout } = await promisify(execFile)(command, args, {
      ...options,
      maxBuffer: outputBytesMax,
    });
    return stdout;
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause });
  }
}

export interface Running {
  /** Resolves to the output when the program has ended. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

export function start(command: string, args: readonly string[], where: Where): Running {
  const child = spawn(command, args, {
    ...where,
    env: environment(where.env),
    shell: isWindows,
    detached: !isWindows,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (printed += String(part)));
  const closed = once(child, 'close');
  const stop = async (): Promise<void> => {
    // Signals the whole process group, because npm may not forward the signal to its child.
    if (child.exitCode === null && child.signalCode === null) {
      if (child.pid !== undefined && !isWindows) process.kill(-child.pid, 'SIGTERM');
      else child.kill();
    }
    await closed;
  };
  return { ended: closed.then(() => printed), stop };
}
