import { useState } from 'react';
import { q, type DocumentRef } from 'burrowdb';
import { usePages } from 'burrowdb/react';

const sites = q.Match<[name: string, ref: DocumentRef]>(q.Index('sites_by_name'));

export function Sites() {
  const [text, setText] = useState('');
  const found = q.Range(sites, text, `${text}\u{10ffff}`);
  const { data, error, hasNext, hasPrevious, next, previous } = usePages(found, { size: 20 });
  const [shown, setShown] = useState(data);
  if (data && data !== shown) setShown(data); // the list stays while another is being loaded
  return (
    <>
      <input placeholder="Name" value={text} onChange={(event) => setText(event.target.value)} />
      {error?.description}
      <ol>
        {shown?.map(([name, { id }]) => (
          <li key={id}>{name}</li>
        ))}
      </ol>
      <button onClick={previous} disabled={!hasPrevious}>
        Previous
      </button>
      <button onClick={next} disabled={!hasNext}>
        Next
      </button>
    </>
  );
}
