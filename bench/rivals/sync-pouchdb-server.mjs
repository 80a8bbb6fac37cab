// The server that PouchDB's documentation recommends: express-pouchdb over LevelDB. Prints its port; the argument is a folder.
import express from 'express';
import makeApp from 'express-pouchdb';
import { join } from 'node:path';
import PouchDB from 'pouchdb';

const [, , folder = ''] = process.argv;
const Kept = PouchDB.defaults({ prefix: `${folder}/` });
const server = express();
server.use((request, response, next) => {
  response.set({
    'access-control-allow-origin': request.headers.origin ?? '*',
    'access-control-allow-credentials': 'true',
    'access-control-allow-methods': 'GET, PUT, POST, DELETE',
    'access-control-allow-headers': 'content-type',
    'access-control-max-age': '7200',
  });
  if (request.method === 'OPTIONS') response.status(204).end();
  else next();
});
server.use(
  '/db',
  makeApp(Kept, {
    mode: 'minimumForPouchDB',
    logPath: join(folder, 'log.txt'),
    configPath: join(folder, 'config.json'),
  }),
);
await new Kept('notes').info();
const listening = server.listen(0, '127.0.0.1', () =>
  console.log(`listening ${listening.address().port}`),
);
