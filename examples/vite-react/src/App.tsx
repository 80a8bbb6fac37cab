import { useState } from 'react';
import { q } from 'burrowdb';
import { BurrowProvider, useMutation, useQuery, useSession, useSync } from 'burrowdb/react';
import { options, todos, type Todo } from './database';

export const App = () => (
  <BurrowProvider {...options}>
    <h1>To-dos</h1>
    <Main />
  </BurrowProvider>
);

function Main() {
  const { state, error, sync, logOut } = useSession();
  if (state === 'opening' || state === 'failed') return <p>{error?.description ?? '…'}</p>;
  if (state !== 'logged-in') return <Login />;
  return (
    <>
      <Todos />
      {sync && <SyncState />}
      {sync && <button onClick={() => logOut()}>Log out</button>}
    </>
  );
}

function Login() {
  const { logIn } = useSession();
  const [problem, setProblem] = useState('');
  const submit = (form: FormData) => {
    const user = q.Match(q.Index('users_by_email'), String(form.get('email')));
    const password = String(form.get('password'));
    return logIn({ user, password }).catch((error: Error) => setProblem(error.message));
  };
  return (
    <form action={submit}>
      <input name="email" type="email" placeholder="E-mail" required />
      <input name="password" type="password" placeholder="Password" required />
      <button>Log in</button>
      <p role="alert">{problem}</p>
    </form>
  );
}

function Todos() {
  const { value = [], isLoading } = useQuery(
    q.Select(
      'data',
      q.Map(q.Paginate(q.Documents(todos), { size: 1000 }), (ref) => q.Get(ref)),
    ),
  );
  const add = useMutation((title: string) => q.Create(todos, { data: { title, done: false } }), {
    label: (title) => `Add “${title}”`,
  });
  const tick = useMutation(
    (id: string, { done }: Todo) => q.Update(q.Ref(todos, id), { data: { done: !done } }),
    { label: (_id, { title }) => `Tick off “${title}”` },
  );
  const remove = useMutation((id: string, _todo: Todo) => q.Delete(q.Ref(todos, id)), {
    label: (_id, { title }) => `Delete “${title}”`,
  });
  const failed = [add, tick, remove].find((write) => write.state === 'failed');
  if (isLoading) return <p>…</p>;
  return (
    <>
      <form action={(form) => void add.run(String(form.get('title')))}>
        <input name="title" aria-label="What is to be done" autoComplete="off" required />
        <button>Add</button> {failed?.error?.description}
      </form>
      <ul id="todos">
        {value.map(({ ref: { id }, data }) => (
          <li key={id}>
            <label>
              <input type="checkbox" checked={data.done} onChange={() => tick.run(id, data)} />
              {data.title}
            </label>
            <button onClick={() => remove.run(id, data)}>Delete</button>
          </li>
        ))}
      </ul>
    </>
  );
}

function SyncState() {
  const { state, pending, refused, resolve } = useSync();
  return (
    <footer>
      <p role="status">{pending > 0 ? `${state}, ${pending} to send` : state}</p>
      {refused.map(({ id, label, error }) => (
        <p key={id}>
          {label} was refused: {error.description}
          <button onClick={() => resolve(id, { discard: true })}>OK</button>
        </p>
      ))}
    </footer>
  );
}
