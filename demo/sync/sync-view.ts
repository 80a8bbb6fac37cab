/** The page "Sync": who are you, and then the notes, with what becomes of each write. */
import type { App, View } from '../shell/app.ts';
import { fill, h } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import type { Route } from '../shell/router.ts';
import { readHubNotes, type HubNotes } from './hub-place.ts';
import { logInForm } from './log-in-form.ts';
import { openKnown, type NoteCopy } from './note-copy.ts';
import { workspace } from './workspace.ts';

/** `#/sync/1` is the window of the person with that id. */
export function syncView(app: App, { id }: Route): View {
  const place = h(
    'div',
    { class: 'sync-place' },
    h('p', { class: 'hint' }, 'Looking for the hub…'),
  );
  let stop: (() => void) | undefined;
  let isGone = false;
  const show = (copy: NoteCopy, hub: HubNotes): void => {
    if (isGone) return;
    stop?.();
    const shown = workspace(app, copy, hub, () => showForm(hub));
    stop = shown.stop;
    fill(place, shown.node);
  };
  const showForm = (hub: HubNotes): void => {
    if (isGone) return;
    stop?.();
    stop = undefined;
    const onDone = (copy: NoteCopy): void => {
      history.replaceState(null, '', `#/sync/${copy.person.id}`);
      show(copy, hub);
    };
    fill(place, logInForm(hub, id, onDone));
  };
  const begin = async (): Promise<void> => {
    const hub = await readHubNotes();
    if (!hub) return fill(place, noHub());
    const person = hub.people.find((each) => each.id === id);
    const known = person && (await openKnown(person));
    if (known) show(known, hub);
    else showForm(hub);
  };
  begin().catch((error: unknown) => fill(place, h('p', { class: 'problem' }, explain(error))));
  const node = h(
    'div',
    { class: 'view' },
    h('h1', {}, 'Two people, one list'),
    h(
      'p',
      { class: 'lead' },
      'Each person has a copy of the notes in their own window. Writing never waits for the network. A hub, a small server on this machine, puts the copies together whenever it can be reached.',
    ),
    h(
      'details',
      { class: 'steps' },
      h('summary', {}, 'What to try'),
      h('ol', {}, ...STEPS.map((step) => h('li', {}, step))),
    ),
    place,
  );
  return {
    title: 'Sync',
    node,
    stop: () => {
      isGone = true;
      stop?.();
    },
  };
}

const STEPS = [
  'Log in as Ada. Open Ben’s window, log in there, and put the two side by side. A note written in one shows in the other.',
  'Turn the network off in both windows. Go on writing, and press +1 on the same note in both. Reload one: nothing is gone.',
  'Turn the network on again. Both windows come to show the same, and both presses are counted: one of them was done with another outcome than it showed, so it says “Amended”.',
  'Hide a note that you share: it leaves the other window.',
  'Write a note that only the hub can refuse, at the bottom of the page. Then change it, try it again or discard it.',
] as const;

const noHub = (): HTMLElement =>
  h(
    'section',
    { class: 'card', 'data-testid': 'no-hub' },
    h('h2', {}, 'There is no hub here'),
    h(
      'p',
      {},
      'This page needs one. ',
      h('code', {}, 'npm start'),
      ' starts it together with the app, and says so in the terminal. If it did not start, the terminal says why.',
    ),
  );
