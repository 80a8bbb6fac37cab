// Describes the machine of a run: results of different machines must not be compared.
import { spawnSync } from 'node:child_process';
import { cpus, loadavg, platform, release, totalmem } from 'node:os';
import { ensureBrowser } from '../../scripts/setup.mjs';

export async function describeMachine() {
  const processors = cpus();
  const { stdout } = spawnSync(await ensureBrowser(), ['--version'], { encoding: 'utf8' });
  const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' });
  return {
    processor: `${processors.length} × ${processors[0]?.model ?? 'unknown processor'}`,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()}`,
    browser: stdout.trim(),
    node: process.version,
    commit: commit.stdout?.trim() ?? '',
    loadAtStart: loadavg()[0] ?? 0,
  };
}
