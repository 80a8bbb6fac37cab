// The server that RxDB's documentation asks users to write for its HTTP replication, over PGlite. Prints its port; the argument is a
// folder.
import { PGlite } from '@electric-sql/pglite';
import { createServer } from 'node:http';

const database = await PGlite.create(process.argv[2]);
await database.exec(
  'create table if not exists notes (id text primary key, seq bigserial, body text not null); create index if not exists by_seq on notes (seq)',
);

/** @type {Set<import('node:http').ServerResponse>} */
const streams = new Set();

/** @param {{ newDocumentState: any, assumedMasterState?: any }[]} rows */
async function push(rows) {
  const conflicts = [];
  const taken = [];
  await database.transaction(async (tx) => {
    for (const { newDocumentState: next, assumedMasterState: assumed } of rows) {
      const { rows: found } = await tx.query('select body from notes where id = $1', [next.id]);
      const present = found[0]?.body;
      if (present !== (assumed && JSON.stringify(assumed))) {
        conflicts.push(JSON.parse(present));
        continue;
      }
      const { rows: written } = await tx.query(
        "insert into notes (id, body) values ($1, $2) on conflict (id) do update set body = $2, seq = nextval('notes_seq_seq') returning seq",
        [next.id, JSON.stringify(next)],
      );
      taken.push({ next, seq: Number(written[0].seq) });
    }
  });
  if (taken.length > 0) {
    const documents = taken.map(({ next }) => next);
    const event = { documents, checkpoint: { seq: taken.at(-1)?.seq } };
    for (const stream of streams) stream.write(`data: ${JSON.stringify(event)}\n\n`);
  }
  return conflicts;
}

/** @param {{ checkpoint?: { seq: number }, limit: number }} asked */
async function pull({ checkpoint, limit }) {
  const { rows } = await database.query(
    'select seq, body from notes where seq > $1 order by seq limit $2',
    [checkpoint?.seq ?? 0, limit],
  );
  const seq = Number(rows.at(-1)?.seq ?? checkpoint?.seq ?? 0);
  return { documents: rows.map(({ body }) => JSON.parse(body)), checkpoint: { seq } };
}

const server = createServer(async (request, response) => {
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-allow-headers', 'content-type');
  response.setHeader('access-control-max-age', '7200');
  if (request.method === 'OPTIONS') return response.writeHead(204).end();
  if (request.url === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write(': hello\n\n');
    streams.add(response);
    request.on('close', () => streams.delete(response));
    return undefined;
  }
  let text = '';
  for await (const part of request) text += part;
  const answer = await (request.url === '/push' ? push : pull)(JSON.parse(text));
  response.writeHead(200, { 'content-type': 'application/json' });
  return response.end(JSON.stringify(answer));
});
server.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
