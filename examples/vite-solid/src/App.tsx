import { createSignal, For, Match, Show, Switch } from 'solid-js';
import { q } from 'burrowdb';
import { BurrowProvider, useMutation, useQuery, useSession, useSync } from 'burrowdb/solid';
import { options, todos, type Todo } from './database';

type Submitted = SubmitEvent & { currentTarget: HTMLFormElement };

export const App = () => (
  <BurrowProvider {...options}>
    <h1>To-dos</h1>
    <Main />
  </BurrowProvider>
);

function Main() {
  const session = useSession();
  return (
    <Switch fallback={<Login />}>
      <Match when={session.state === 'opening'}>
        <p>…</p>
      </Match>
      <Match when={session.state === 'failed'}>
        <p role="alert">{session.error?.description}</p>
      </Match>
      <Match when={session.state === 'logged-in'}>
        <Todos />
        <Show when={session.sync}>
          <SyncState />
          <button onClick={() => session.logOut()}>Log out</button>
        </Show>
      </Match>
    </Switch>
  );
}

function Login() {
  const { logIn } = useSession();
  const [problem, setProblem] = createSignal('');
  const submit = (event: Submitted) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const user = q.Match(q.Index('users_by_email'), String(form.get('email')));
    const password = String(form.get('password'));
    logIn({ user, password }).catch((error: Error) => setProblem(error.message));
  };
  return (
    <form onSubmit={submit}>
      <input name="email" type="email" placeholder="E-mail" required />
      <input name="password" type="password" placeholder="Password" required />
      <button>Log in</button>
      <p role="alert">{problem()}</p>
    </form>
  );
}

function Todos() {
  const all = useQuery(
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
  const failed = () => [add, tick, remove].find((write) => write.state === 'failed');
  const submit = (event: Submitted) => {
    event.preventDefault();
    void add.run(String(new FormData(event.currentTarget).get('title')));
    event.currentTarget.reset();
  };
  return (
    <Show when={!all.isLoading} fallback={<p>…</p>}>
      <form onSubmit={submit}>
        <input name="title" aria-label="What is to be done" autocomplete="off" required />
        <button>Add</button> {failed()?.error?.description}
      </form>
      <ul id="todos">
        <For each={all.value}>
          {({ ref: { id }, data }) => (
            <li>
              <label>
                <input type="checkbox" checked={data.done} onChange={() => tick.run(id, data)} />
                {data.title}
              </label>
              <button onClick={() => remove.run(id, data)}>Delete</button>
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}

function SyncState() {
  const sync = useSync();
  return (
    <footer>
      <p role="status">
        {sync.pending > 0 ? `${sync.state}, ${sync.pending} to send` : sync.state}
      </p>
      <For each={sync.refused}>
        {({ id, label, error }) => (
          <p>
            {label} was refused: {error.description}
            <button onClick={() => sync.resolve(id, { discard: true })}>OK</button>
          </p>
        )}
      </For>
    </footer>
  );
}
