import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { openMemoryHost, type MemoryHost } from './testing/memory-host.ts';
import { openStream, query } from './testing/stream-kit.ts';

/** To run more cases: `BURROW_ROLE_CASES=2000 npx vitest run --project node src/http/stream-roles.test.ts`. */
const CASES = Number(process.env['BURROW_ROLE_CASES'] ?? 60);

const obj = (fields: object) => ({ object: fields });
const doc = (id: number) => ({ ref: { collection: 'c' }, id: String(id) });
const on = (expr: unknown) => ({ query: { lambda: 'r', expr } });
const ref = { var: 'r' };

/** Each policy permits reading a document with an even id and `a` 1: such documents mark the end of a step for all streams. */
const POLICIES = {
  all: { wire: true, holds: () => true },
  even: {
    wire: on({ equals: [{ modulo: [{ to_integer: { select: 'id', from: ref } }, 2] }, 0] }),
    holds: (id: number) => id % 2 === 0,
  },
  one: {
    wire: on({ equals: [{ select: ['data', 'a'], from: { get: ref } }, 1] }),
    holds: (_id: number, a: number | undefined) => a === 1,
  },
} as const;

/** A document gets a new value of `a`, or is deleted. */
interface Step {
  readonly id: number;
  readonly a: number | undefined;
}

const IDS = 4;
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    id: fc.integer({ min: 1, max: IDS }),
    a: fc.option(fc.nat(2), { nil: undefined, freq: 3 }),
  }),
  { minLength: 1, maxLength: 8 },
);

const TARGETS = {
  documents: { documents: { collection: 'c' } },
  match: { match: { index: 'by_a' }, terms: 1 },
  document: doc(2),
} as const;
type TargetName = keyof typeof TARGETS;

const write = ({ id, a }: Step, isLive: boolean): unknown => {
  if (a === undefined) return isLive ? { delete: doc(id) } : undefined;
  const params = obj({ data: obj({ a }) });
  return isLive ? { replace: doc(id), params } : { create: doc(id), params };
};

test(
  'a stream reports to a role exactly the changes of documents that it may read',
  () =>
    fc.assert(
      fc.asyncProperty(
        steps,
        fc.constantFrom(...(Object.keys(POLICIES) as (keyof typeof POLICIES)[])),
        fc.constantFrom(...(Object.keys(TARGETS) as TargetName[])),
        async (changes, policy, target) => {
          const host = await hostWith(POLICIES[policy].wire);
          const run = new StreamRun(host, target, POLICIES[policy].holds);
          await run.open();
          for (const change of changes) {
            const { told, right } = await run.make(change);
            expect(right).toContainEqual(told);
          }
          await run.close();
        },
      ),
      { numRuns: CASES },
    ),
  300_000 + CASES * 200,
);

async function hostWith(read: unknown): Promise<MemoryHost> {
  const host = await openMemoryHost();
  const source = { collection: 'c' };
  await query(host, { create_collection: obj({ name: 'c' }) });
  const terms = [obj({ field: ['data', 'a'] })];
  await query(host, { create_index: obj({ name: 'by_a', source, terms }) });
  const privileges = [
    obj({ resource: source, actions: obj({ read }) }),
    obj({ resource: { index: 'by_a' }, actions: obj({ read: true }) }),
  ];
  await query(host, { create_role: obj({ name: 'r', privileges }) });
  return host;
}

type Stream = Awaited<ReturnType<typeof openStream>>;
type Frame = Awaited<ReturnType<Stream['next']>>;

interface Told {
  readonly told: readonly Frame[];
  /** The frames that the role may get: one of these lists. */
  readonly right: readonly (readonly Frame[])[];
}

class StreamRun {
  private readonly host: MemoryHost;
  private readonly target: TargetName;
  private readonly holds: (id: number, a: number | undefined) => boolean;
  private readonly now = new Map<number, number>();
  private streams: readonly Stream[] = [];
  private marks = 0;

  constructor(host: MemoryHost, target: TargetName, holds: StreamRun['holds']) {
    this.host = host;
    this.target = target;
    this.holds = holds;
  }

  async open(): Promise<void> {
    const { host } = this;
    const wire = TARGETS[this.target];
    const role = `${host.admin}:@role/r`;
    this.streams = [await openStream(host, wire), await openStream(host, wire, { secret: role })];
    for (const stream of this.streams) await stream.next();
  }

  /** Makes a change, and another one that both streams emit: all frames before that one belong to the first change. */
  async make(step: Step): Promise<Told> {
    const { now } = this;
    const wire = write(step, now.has(step.id));
    if (wire !== undefined) await query(this.host, wire);
    this.note(step);
    const shows = this.holds(step.id, now.get(step.id));
    const mark = await this.mark();
    const [admin = [], role = []] = await Promise.all(
      this.streams.map((stream) => framesUntil(stream, mark)),
    );
    // The mark may have made the document readable before the first change was emitted: its reader may also read its past.
    const late = this.target === 'document' ? [admin] : [];
    return { told: role, right: [shows ? admin : admin.slice(-1), ...late] };
  }

  private note({ id, a }: Step): void {
    if (a === undefined) this.now.delete(id);
    else this.now.set(id, a);
  }

  private async mark(): Promise<unknown> {
    this.marks += 1;
    const step = { id: this.target === 'document' ? 2 : 100 + 2 * this.marks, a: 1 };
    const made = await query(this.host, write(step, this.now.has(step.id)));
    this.note(step);
    return made['ts'];
  }

  async close(): Promise<void> {
    for (const stream of this.streams) await stream.end();
  }
}

async function framesUntil(stream: Stream, txn: unknown): Promise<readonly Frame[]> {
  const frames: Frame[] = [];
  for (;;) {
    const frame = await stream.next();
    frames.push(frame);
    if (frame.txn === txn) return frames;
  }
}
