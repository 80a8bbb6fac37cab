import { createElement, Fragment, type ReactElement, type StrictMode } from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { BurrowProvider, useMutation, usePages, useQuery, useSession, useSync } from '../react.ts';
import type { MountParts, Part, Parts } from './kit.ts';

type PartOf<Use extends Part['use']> = Extract<Part, { readonly use: Use }>;

const COMPONENTS: { readonly [Use in Part['use']]: (part: PartOf<Use>) => null } = {
  query({ query, choices, report }) {
    report(useQuery(query, choices));
    return null;
  },
  pages({ set, size, map, report }) {
    report(usePages(set, { size, map }));
    return null;
  },
  mutation({ query, options, report }) {
    report(useMutation(query, options));
    return null;
  },
  sync({ report }) {
    report(useSync());
    return null;
  },
  session({ report }) {
    report(useSession());
    return null;
  },
};

/** Each part is a component of its own. */
const elementOf = (parts: Parts): ReactElement =>
  createElement(
    Fragment,
    null,
    ...Object.entries(parts).map(([key, part]) =>
      createElement(COMPONENTS[part.use] as (part: Part) => null, { ...part, key }),
    ),
  );

export const mountIn =
  (mode: typeof StrictMode | typeof Fragment): MountParts =>
  (options, parts) => {
    const root = createRoot(document.createElement('div'));
    const update = (next: Parts): void =>
      flushSync(() => {
        root.render(
          createElement(mode, null, createElement(BurrowProvider, options, elementOf(next))),
        );
      });
    update(parts);
    return { update, unmount: () => root.unmount() };
  };
