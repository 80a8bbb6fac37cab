/** The baseline of a first load: one download, parsed and stored in IndexedDB, with the index that queries need. */

const BATCH = 1000;

/** Time until the last note is stored, in ms. */
export async function loadByHand(url: string): Promise<number> {
  const begun = performance.now();
  const answer = await fetch(url);
  const notes = (await answer.json()) as readonly object[];
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open('by hand', 1);
    request.addEventListener('upgradeneeded', () => {
      const store = request.result.createObjectStore('notes', { autoIncrement: true });
      store.createIndex('room', 'room');
    });
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('It did not open.')));
  });
  for (let at = 0; at < notes.length; at += BATCH) {
    const tx = database.transaction('notes', 'readwrite');
    for (const note of notes.slice(at, at + BATCH)) tx.objectStore('notes').add(note);
    await new Promise<void>((resolve, reject) => {
      tx.addEventListener('complete', () => resolve());
      tx.addEventListener('abort', () => reject(tx.error ?? new Error('It was not stored.')));
    });
  }
  database.close();
  return performance.now() - begun;
}
