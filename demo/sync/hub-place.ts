/** Where this browser reaches the hub, and what a page must know before anyone has logged in. */

export interface Person {
  readonly id: string;
  readonly name: string;
  /** Of a made-up person: public. */
  readonly password: string;
  /** Of a note that only this person sees. */
  readonly secretTitle: string;
}

export interface HubNotes {
  /** Secret of a client key: with it a page may log in, and do nothing else. */
  readonly key: string;
  readonly people: readonly Person[];
}

const KEPT = 'burrow-sync';

/** Kept for the time without network. Undefined: there is no hub, and never was one. */
export async function readHubNotes(): Promise<HubNotes | undefined> {
  try {
    const answer = await fetch(new URL('hub/about', document.baseURI), { cache: 'no-store' });
    if (answer.ok) {
      const text = await answer.text();
      localStorage.setItem(KEPT, text);
      return JSON.parse(text) as HubNotes;
    }
  } catch {
    // No network: the earlier answer still holds.
  }
  const kept = localStorage.getItem(KEPT);
  return kept === null ? undefined : (JSON.parse(kept) as HubNotes);
}

/** The name of this browser's copy for one person: its way to the hub has that name, so it can be cut alone. */
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

/** Whether requests of this copy come through. */
export async function isNetworkOn(person: Person): Promise<boolean> {
  const answer = await fetch(switchUrl(person), { cache: 'no-store' });
  return ((await answer.json()) as { readonly isOn: boolean }).isOn;
}

/** The server of this page drops every request of this copy, and those on their way, until it is turned on again. */
export async function turnNetwork(person: Person, isOn: boolean): Promise<void> {
  await fetch(switchUrl(person), { method: isOn ? 'PUT' : 'DELETE' });
}
