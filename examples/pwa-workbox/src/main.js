import { openDatabase, q } from 'burrowdb';

const form = document.querySelector('form');
const list = document.querySelector('#todos');
const todos = q.Collection('todos');

const db = await openDatabase('todos');
const client = db.client();
await client.query(q.If(q.Exists(todos), null, q.CreateCollection({ name: 'todos' })));

const titles = q.Map(
  q.Paginate(q.Documents(todos), { size: 1000 }),
  q.Lambda('ref', q.Select(['data', 'title'], q.Get(q.Var('ref')))),
);
client.subscribe(titles, {
  next: ({ data }) => list.replaceChildren(...data.map(listItem)),
});

function listItem(title) {
  const item = document.createElement('li');
  item.textContent = title;
  return item;
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const title = new FormData(form).get('title');
  form.reset();
  await client.query(q.Create(todos, { data: { title } }));
});
form.querySelector('button').disabled = false;

await navigator.serviceWorker.register('service-worker.js');
