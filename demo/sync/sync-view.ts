/** The page "Sync": a login, then the notes and the state of each write. */
import type { App, View } from '../shell/app.ts';
import { fill, h, hint, lead, refillPart } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import type { Route } from '../shell/router.ts';
import { readHubNotes, type HubNotes } from './hub-place.ts';
import { logInForm } from './log-in-form.ts';
import { openHere, openKnown, type NoteCopy } from './note-copy.ts';
import { workspace } from './workspace.ts';

/** `#/sync/1` is the window of the person with the id 1. */
export function syncView(app: App, { id }: Route): View {
  const place = h('div', { class: 'sync-place' }, hint('Connecting to the hub…'));
  let stop: (() => void) | undefined;
  let isGone = false;
  const show = (copy: NoteCopy, hub: HubNotes): void => {
    if (isGone) return;
    stop?.();
    history.replaceState(null, '', `#/sync/${copy.person.id}`);
    const shown = workspace(app, copy, hub, () => showForm(hub));
    stop = shown.stop;
    refillPart(place, shown.node);
  };
  const showForm = (hub: HubNotes): void => {
    if (isGone) return;
    stop?.();
    stop = undefined;
    refillPart(
      place,
      logInForm(hub, id, (copy) => show(copy, hub)),
    );
  };
  const begin = async (): Promise<void> => {
    const hub = await readHubNotes();
    if (!hub) return fill(place, noHub());
    const person = hub.people.find((each) => each.id === id);
    // A link without an id opens the copy of the person who is logged in here.
    const known = await (person ? openKnown(person) : openHere());
    if (known) show(known, hub);
    else showForm(hub);
  };
  begin().catch((error: unknown) => fill(place, h('p', { class: 'problem' }, explain(error))));
  return {
    title: 'Sync',
    node: h('div', { class: 'view' }, ...introduction(), place),
    stop: () => {
      isGone = true;
      stop?.();
    },
  };
}

const introduction = (): HTMLElement[] => [
  h('h1', {}, 'Two users, one list'),
  lead(
    'Each user has a copy of the notes in a separate window. Writes never wait for the network. A hub, a small server on this machine, syncs the copies whenever it can be reached.',
  ),
  h(
    'details',
    { class: 'steps' },
    h('summary', {}, 'What to try'),
    h('ol', {}, ...STEPS.map((step) => h('li', {}, step))),
  ),
];

const STEPS = [
  'Log in as Ada. Open Ben’s window, log in there, and put the windows side by side. A note added in one appears in the other.',
  'Turn the network off in both windows. Add notes, and press +1 on the same note in both. Reload one: nothing is lost.',
  'Turn the network on again. Both windows show the same notes, and both +1 are counted. One of these writes had a different result at the hub than it showed, so it is marked “Amended”.',
  'Press Photo at a note and choose a picture, also with the network off. It appears in the other window once the hub has it.',
  'Hide a note that you share: it disappears from the other window.',
  'Keep only your own notes on this device. The number of notes then says that the hub may have more; “Count at the hub” asks it.',
  'Add notes without an account, then copy them into your copy.',
  'At the bottom of the page, add a note that only the hub can refuse. Then edit it, retry it or discard it.',
] as const;

const noHub = (): HTMLElement =>
  h(
    'section',
    { class: 'card', 'data-testid': 'no-hub' },
    h('h2', {}, 'No hub is running'),
    h(
      'p',
      {},
      'This page needs a hub. ',
      h('code', {}, 'npm start'),
      ' starts one together with the app and prints its address in the terminal, or the reason why it did not start.',
    ),
  );
