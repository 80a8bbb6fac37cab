import {
  createComponent,
  createMemo,
  createRenderEffect,
  createSignal,
  For,
  type Accessor,
  type JSX,
} from 'solid-js';
import { render } from 'solid-js/web';
import { BurrowProvider, useMutation, usePages, useQuery, useSession, useSync } from '../solid.ts';
import type { MountParts, Part } from './kit.ts';

type PartOf<Use extends Part['use']> = Extract<Part, { readonly use: Use }>;

const COMPONENTS: { readonly [Use in Part['use']]: (part: Accessor<PartOf<Use>>) => void } = {
  query(part) {
    const used = useQuery(() => part().query, part().choices);
    createRenderEffect(() => part().report({ ...used }));
  },
  pages(part) {
    const used = usePages(
      () => part().set,
      () => ({ size: part().size, map: part().map }),
    );
    createRenderEffect(() => part().report({ ...used }));
  },
  mutation(part) {
    const { query, options } = part();
    const used = useMutation(query, options);
    createRenderEffect(() => part().report({ ...used }));
  },
  sync(part) {
    const used = useSync();
    createRenderEffect(() => part().report({ ...used }));
  },
  session(part) {
    const used = useSession();
    createRenderEffect(() => part().report({ ...used }));
  },
};

export const mountInSolid: MountParts = (options, parts) => {
  const [shown, show] = createSignal(parts);
  /** Each part is a component of its own. */
  const Shown = () =>
    createComponent(For<readonly string[], JSX.Element>, {
      get each() {
        return Object.keys(shown());
      },
      children: (key) => {
        const part = createMemo<Part | undefined>((before) => shown()[key] ?? before);
        const first = part();
        if (first) (COMPONENTS[first.use] as (part: Accessor<Part | undefined>) => void)(part);
        return null;
      },
    });
  const unmount = render(
    () =>
      createComponent(BurrowProvider, {
        ...options,
        get children() {
          return createComponent(Shown, {});
        },
      }),
    document.createElement('div'),
  );
  return { update: (next) => void show(next), unmount };
};
