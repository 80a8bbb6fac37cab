/** Pages of the large database, read by an admin and by a role whose predicate reads each document. */
import { openDatabase, q, type Client, type Expr, type Page, type Ref } from '../../src/index.ts';
import { idOf } from './documents.ts';
import { median } from './measure.ts';

const DOCS = q.Collection('docs');
const ROLE = 'bench_reader';
const SIZE = 64;

async function makeRole(client: Client): Promise<void> {
  if (await client.query(q.Exists(q.Role(ROLE)))) return;
  const isGrown = q.Query((ref: Expr<Ref>) => q.GTE(q.Select(['data', 'age'], q.Get(ref)), 0));
  await client.query(
    q.CreateRole({ name: ROLE, privileges: { resource: DOCS, actions: { read: isGrown } } }),
  );
}

interface RolePages {
  readonly pages: number;
  readonly documents: number;
}

/** Medians of the first page, repeated, and of one page after the other; admin and role alternate. */
export async function measureRolePages({ pages, documents }: RolePages) {
  const database = await openDatabase('big', { durability: 'relaxed' });
  const admin = database.client();
  await makeRole(admin);
  const sides = {
    admin,
    role: database.client({ secret: `${database.rootSecret}:@role/${ROLE}` }),
  };
  const onwards = { admin: [] as number[], role: [] as number[] };
  const warm = { admin: [] as number[], role: [] as number[] };
  // The sides start at different places; otherwise the second one would read from the cache what the first one has read.
  const middle = q.Ref(DOCS, idOf(Math.floor(documents / 2)));
  const after: { admin: unknown; role: unknown } = { admin: undefined, role: middle };
  for (let turn = 0; turn < pages; turn++) {
    for (const side of ['admin', 'role'] as const) {
      const first = await timePage(sides[side], undefined);
      const next = await timePage(sides[side], after[side]);
      after[side] = next.page.after;
      // The first turns are a warm-up.
      if (turn < pages / 10) continue;
      warm[side].push(first.ms);
      onwards[side].push(next.ms);
    }
  }
  await database.close();
  const medians = (ms: typeof warm) => ({ admin: median(ms.admin), role: median(ms.role) });
  return { warm: medians(warm), onwards: medians(onwards) };
}

async function timePage(client: Client, after: unknown) {
  const options = after === undefined ? { size: SIZE } : { size: SIZE, after };
  const before = performance.now();
  const page: Page<Ref> = await client.query(q.Paginate(q.Documents(DOCS), options as object));
  const ms = performance.now() - before;
  if (page.data.length !== SIZE) throw new Error('Wrong answer: a page that is not full.');
  return { page, ms };
}
