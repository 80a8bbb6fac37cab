import type { App, View } from './app.ts';

/** Where the user is: `#/country/FR?sort=population`. */
export interface Route {
  readonly name: string;
  /** What follows the name; empty when nothing does. */
  readonly id: string;
  readonly options: URLSearchParams;
}

export type MakeView = (app: App, route: Route) => View;

export function readRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?');
  const [name = '', id = ''] = path.split('/');
  return {
    name: name === '' ? 'cities' : name,
    id: decode(id),
    options: new URLSearchParams(search),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // An address that was typed by hand: as it stands.
    return text;
  }
}

/** Shows the view that the address names, and follows it. */
export function startRouter(
  app: App,
  views: Readonly<Record<string, MakeView>>,
  show: (view: View, route: Route) => void,
): void {
  let current: View | undefined;
  const refresh = (): void => {
    const read = readRoute(location.hash);
    const route = Object.hasOwn(views, read.name) ? read : { ...read, name: 'cities' };
    current?.stop?.();
    const make = views[route.name];
    current = make?.(app, route);
    if (current) show(current, route);
  };
  addEventListener('hashchange', refresh);
  refresh();
}
