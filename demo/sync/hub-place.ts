/** Reaches the hub from this browser, and reads what a page needs before anyone has logged in. */

export interface Person {
  readonly id: string;
  readonly name: string;
  /** Public, because the person is fictional. */
  readonly password: string;
  /** Title of a note that only this person can read. */
  readonly secretTitle: string;
}

export interface HubNotes {
  /** Secret of a client key, with which a page can log in and do nothing else. */
  readonly key: string;
  readonly people: readonly Person[];
}

const KEPT = 'burrow-sync';

/** The response is kept for later starts without network. Undefined: there is no hub, and there never was one. */
export async function readHubNotes(): Promise<HubNotes | undefined> {
  try {
    const answer = await fetch(new URL('hub/about', document.baseURI), { cache: 'no-store' });
    if (answer.ok) {
      const text = await answer.text();
      localStorage.setItem(KEPT, text);
      return JSON.parse(text) as HubNotes;
    }
  } catch {
    // No network: the stored response is still valid.
  }
  const kept = localStorage.getItem(KEPT);
  return kept === null ? undefined : (JSON.parse(kept) as HubNotes);
}

/** The name of this browser's copy for one person. It is part of the path to the hub, so the network of one copy can be cut alone. */
function copyName({ id }: Person): string {
  const place = `${KEPT} ${id}`;
  const known = localStorage.getItem(place);
  if (known !== null) return known;
  const made = crypto.randomUUID();
  localStorage.setItem(place, made);
  return made;
}

export const hubUrl = (person: Person): string =>
  new URL(`hub/${copyName(person)}`, document.baseURI).href;

const switchUrl = (person: Person): URL => new URL(`network/${copyName(person)}`, document.baseURI);

/** Whether the network of this copy is on. */
export async function isNetworkOn(person: Person): Promise<boolean> {
  const answer = await fetch(switchUrl(person), { cache: 'no-store' });
  return ((await answer.json()) as { readonly isOn: boolean }).isOn;
}

/** Turns the network of this copy on or off. While it is off, the page's server drops all requests of the copy, also those in progress. */
export async function turnNetwork(person: Person, isOn: boolean): Promise<void> {
  await fetch(switchUrl(person), { method: isOn ? 'PUT' : 'DELETE' });
}
