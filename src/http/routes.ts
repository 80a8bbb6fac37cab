/** Routes by path. Spec: auth 4.1, 6.3. */
import { findRestTarget, type RestTarget } from './rest-query.ts';

export type Route =
  | { readonly to: 'query' }
  | { readonly to: 'linearized' }
  | { readonly to: 'stream' }
  | { readonly to: 'ping' }
  | { readonly to: 'authorized' }
  | { readonly to: 'error' }
  | { readonly to: 'rest'; readonly target: RestTarget }
  /** `rest`: the path segments after `/api/v1/`. */
  | { readonly to: 'logs'; readonly rest: readonly string[] }
  | { readonly to: 'file'; readonly requestId: string; readonly version: number }
  | { readonly to: 'nowhere' };

export interface Place {
  readonly route: Route;
  /** Without the query string. */
  readonly path: string;
  readonly parameters: URLSearchParams;
}

export function findPlace(url: string): Place {
  const [beforeHash = ''] = url.split('#');
  const mark = beforeHash.indexOf('?');
  const path = mark < 0 ? beforeHash : beforeHash.slice(0, mark);
  const parameters = new URLSearchParams(mark < 0 ? '' : beforeHash.slice(mark + 1));
  return { route: findRoute(path), path: path === '' ? '/' : path, parameters };
}

/** Whether the body of a request to this path is a query and nothing else. */
export const isQueryPath = (url: string): boolean =>
  url === '/' || ['query', 'linearized'].includes(findPlace(url).route.to);

/** Whether the body of a request to this path is a query, or becomes part of one. */
export const isExecutedPath = (url: string): boolean =>
  isQueryPath(url) || findPlace(url).route.to === 'rest';

function findRoute(path: string): Route {
  const segments = decoded(path);
  if (!segments) return { to: 'nowhere' };
  const [first, second, third, ...rest] = segments;
  switch (first) {
    case undefined:
      return { to: 'query' };
    case 'linearized':
    case 'stream':
    case 'ping':
    case 'authorized':
    case 'error':
      return second === undefined ? { to: first } : { to: 'nowhere' };
    case 'api':
      return second === 'v1'
        ? { to: 'logs', rest: third === undefined ? [] : [third, ...rest] }
        : { to: 'nowhere' };
    case 'files':
      return second !== undefined && /^\d{1,9}$/.test(third ?? '') && rest.length === 0
        ? { to: 'file', requestId: second, version: Number(third) }
        : { to: 'nowhere' };
    default: {
      const target = findRestTarget(segments);
      return target ? { to: 'rest', target } : { to: 'nowhere' };
    }
  }
}

/** Empty segments are ignored, because drivers double the slash if their endpoint ends with one. */
function decoded(path: string): readonly string[] | undefined {
  try {
    return path
      .split('/')
      .filter((segment) => segment !== '')
      .map((segment) => decodeURIComponent(segment));
  } catch {
    return undefined;
  }
}
