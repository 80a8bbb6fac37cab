import { useState } from 'react';
import { openDatabase, type Database } from 'burrowdb';
import { BurrowProvider, useSession, type BurrowProviderProps } from 'burrowdb/react';

const opened = new Map<string, Promise<Database>>();

/** The database of a person. It stays open while others use the device. */
function databaseOf(email: string): Promise<Database> {
  let database = opened.get(email);
  if (!database) {
    database = openDatabase('todos', { identity: email });
    opened.set(email, database);
    const drop = () => opened.delete(email);
    database.then((db) => db.addEventListener('closed', drop), drop);
  }
  return database;
}

interface Props extends Pick<BurrowProviderProps, 'sync' | 'loginKey' | 'children'> {
  /** Who has used this device. */
  readonly emails: readonly string[];
}

export function SharedDevice({ emails, children, ...options }: Props) {
  const [email, setEmail] = useState<string>();
  if (!email)
    return emails.map((each) => (
      <button key={each} onClick={() => setEmail(each)}>
        {each}
      </button>
    ));
  return (
    <BurrowProvider key={email} database={() => databaseOf(email)} {...options}>
      {children}
      <Leave onLeft={() => setEmail(undefined)} />
    </BurrowProvider>
  );
}

function Leave({ onLeft }: { readonly onLeft: () => void }) {
  const { logOut } = useSession();
  return <button onClick={() => void logOut().then(onLeft)}>Log out</button>;
}
