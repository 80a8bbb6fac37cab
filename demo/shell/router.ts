import type { App, View } from './app.ts';

/** The current route, parsed from an address such as `#/country/FR?order=population`. */
export interface Route {
  readonly name: string;
  /** The part after the name; empty if there is none. */
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
    // The address was typed by hand and is not valid percent-encoding: use it unchanged.
    return text;
  }
}

/** Shows the view that the address names, and switches views when the address changes. */
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
