import { Todos } from './todos.jsx';

export default function Page() {
  return (
    <>
      <h1>To-dos</h1>
      <Todos />
    </>
  );
}
