import { createApp, defineComponent, h, proxyRefs, shallowRef, type PropType } from 'vue';
import { provideBurrow, useMutation, usePages, useQuery, useSession, useSync } from '../vue.ts';
import type { MountParts, Part } from './kit.ts';

type PartOf<Use extends Part['use']> = Extract<Part, { readonly use: Use }>;

/** Each function calls its hook once; the function that it returns is called for each rendering. */
const SETUPS: { readonly [Use in Part['use']]: (part: () => PartOf<Use>) => () => void } = {
  query(part) {
    const used = proxyRefs(useQuery(() => part().query, part().choices));
    return () => part().report({ ...used });
  },
  pages(part) {
    const used = proxyRefs(
      usePages(
        () => part().set,
        () => ({ size: part().size, map: part().map }),
      ),
    );
    return () => part().report({ ...used });
  },
  mutation(part) {
    const { query, options } = part();
    const used = proxyRefs(useMutation(query, options));
    return () => part().report({ ...used });
  },
  sync(part) {
    const used = proxyRefs(useSync());
    return () => part().report({ ...used });
  },
  session(part) {
    const used = proxyRefs(useSession());
    return () => part().report({ ...used });
  },
};

/** Each part is a component of its own. */
const PartComponent = defineComponent({
  props: { part: { type: Object as PropType<Part>, required: true } },
  setup(props) {
    const setup = SETUPS[props.part.use] as (part: () => Part) => () => void;
    const render = setup(() => props.part);
    return () => {
      render();
      return null;
    };
  },
});

export const mountInVue: MountParts = (options, parts) => {
  const shown = shallowRef(parts);
  const app = createApp(
    defineComponent(() => {
      provideBurrow(options);
      return () =>
        Object.entries(shown.value).map(([key, part]) => h(PartComponent, { key, part }));
    }),
  );
  app.mount(document.createElement('div'));
  return {
    update: (next) => {
      shown.value = next;
    },
    unmount: () => app.unmount(),
  };
};
