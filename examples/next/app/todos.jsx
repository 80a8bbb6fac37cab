'use client';
import { openDatabase, q } from 'burrowdb';
import { BurrowProvider, useMutation, useQuery } from 'burrowdb/react';

const todos = q.Collection('todos');
const all = q.Select(
  'data',
  q.Map(q.Paginate(q.Documents(todos), { size: 1000 }), (ref) => q.Get(ref)),
);

/** Called in the browser only. */
async function openTodos() {
  const db = await openDatabase('todos');
  const collection = q.CreateCollection({ name: 'todos' });
  await db.client().query(q.If(q.Exists(todos), null, collection));
  return db;
}

export const Todos = () => (
  <BurrowProvider database={openTodos}>
    <List />
  </BurrowProvider>
);

function List() {
  const { value = [], error, isLoading } = useQuery(all);
  const { run, error: refusal } = useMutation((title) => q.Create(todos, { data: { title } }));
  const problem = error ?? refusal;
  const add = (form) => run(form.get('title')).catch(() => undefined); // shown as `problem`
  return (
    <>
      <form action={add}>
        <input name="title" aria-label="What is to be done" autoComplete="off" required />
        <button disabled={isLoading}>Add</button>
      </form>
      {problem && <p role="alert">{problem.description}</p>}
      <ul id="todos">
        {value.map(({ ref, data }) => (
          <li key={ref.id}>{data.title}</li>
        ))}
      </ul>
    </>
  );
}
