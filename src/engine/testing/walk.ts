/** Parses the walk for newcomers at the end of ARCHITECTURE.md, and records which files are executed. */
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

export const root = new URL('../../../', import.meta.url);
const text = readFileSync(new URL('ARCHITECTURE.md', root), 'utf8');
const [, walk = ''] = text.split('\n## A walk for newcomers\n');
/** The paragraphs of the walk, by their bold title. */
export const walks = new Map(
  walk.split(/\n(?=\*\*)/).flatMap((part) => {
    const [, title] = /^\*\*([^*]+)\*\*/.exec(part) ?? [];
    return title === undefined ? [] : [[title, part] as const];
  }),
);

export const filesIn = (part: string): readonly string[] =>
  [...part.matchAll(/`([\w-]+(?:\/[\w.-]+)+)`/g)].map(([, path = '']) => path);

/** The files of which at least one function is executed by `run`. */
export async function filesExecuted(run: () => Promise<unknown>): Promise<ReadonlySet<string>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true });
  await session.post('Profiler.takePreciseCoverage');
  await run();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
  return new Set(
    result
      .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
      .map(({ url }) => url.replace(/^file:\/\//, '').replace(root.pathname, '')),
  );
}
