/** The frame around every view: brand, navigation, notices. */
import { button, fill, h } from './dom.ts';
import type { View } from './app.ts';
import type { Route } from './router.ts';
import { ICONS, icon } from './icons.ts';

export interface Frame {
  readonly node: HTMLElement;
  /** The bar at the top of the page. */
  readonly header: HTMLElement;
  /** Above the view: the import, and what the user must know. */
  readonly notices: HTMLElement;
  show(view: View, route: Route): void;
  showAccount(email: string | undefined): void;
  say(message: string, kind?: 'good' | 'bad'): void;
}

const PAGES = [
  { href: '#/', label: 'Cities', icon: ICONS.cities, names: ['cities', 'country', 'city'] },
  { href: '#/roles', label: 'Roles', icon: ICONS.roles, names: ['roles'] },
  { href: '#/sync', label: 'Sync', icon: ICONS.sync, names: ['sync'] },
  { href: '#/query', label: 'Query', icon: ICONS.query, names: ['query'] },
  { href: '#/log', label: 'Log', icon: ICONS.log, names: ['log'] },
  { href: '#/account', label: 'Account', icon: ICONS.account, names: ['account'] },
  { href: '#/about', label: 'About', icon: ICONS.about, names: ['about'] },
] as const;

const SAID_MS = 5000;

export function makeFrame(): Frame {
  const links = PAGES.map(({ href, label, icon: paths }) =>
    h('a', { href, 'data-page': label }, icon(paths), h('span', {}, label)),
  );
  const who = h('a', { class: 'who', href: '#/account', 'data-testid': 'who' }, 'Not logged in');
  const notices = h('div', { class: 'notices' });
  const main = h('main', { id: 'main', tabindex: -1 });
  const said = h('div', { class: 'said', role: 'status', 'aria-live': 'polite' });
  const nav = h('nav', { class: 'nav', 'aria-label': 'Main' }, ...links);
  const skip = button('Skip to content', () => main.focus(), { class: 'skip' });
  const brand = h(
    'a',
    { class: 'brand', href: '#/' },
    h('img', { src: './icon.svg', alt: '', width: 32, height: 32 }),
    h('span', {}, 'Burrow'),
  );
  const header = h('header', { class: 'top' }, brand, nav, offlineTag(), who);
  return {
    node: h('div', { class: 'frame' }, skip, header, notices, main, said),
    header,
    notices,
    show: (view, { name }) => {
      const isFirst = main.childElementCount === 0;
      fill(main, view.node);
      fill(said);
      document.title = `${view.title} · Burrow`;
      // There, each window acts as another user.
      who.hidden = name === 'sync';
      markPage(links, name);
      scrollTo(0, 0);
      // A screen reader goes on from the new view; at the start the browser does so by itself.
      if (!isFirst) main.focus({ preventScroll: true });
    },
    showAccount: (email) => {
      fill(who, email ?? 'Not logged in');
      who.toggleAttribute('data-in', email !== undefined);
    },
    say: (message, kind = 'good') => {
      const note = h('p', { class: `note ${kind}` }, message);
      fill(said, note);
      setTimeout(() => note.remove(), SAID_MS);
    },
  };
}

function offlineTag(): HTMLElement {
  const tag = h('span', { class: 'tag offline', 'data-testid': 'offline' }, 'offline');
  const followNetwork = (): void => {
    tag.hidden = navigator.onLine;
  };
  addEventListener('online', followNetwork);
  addEventListener('offline', followNetwork);
  followNetwork();
  return tag;
}

/** @param links of the pages, in their order */
function markPage(links: readonly HTMLElement[], name: string): void {
  PAGES.forEach(({ names }, at) => {
    const isHere = (names as readonly string[]).includes(name);
    links[at]?.toggleAttribute('data-here', isHere);
    if (isHere) links[at]?.setAttribute('aria-current', 'page');
    else links[at]?.removeAttribute('aria-current');
  });
}
