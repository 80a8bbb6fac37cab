import { flushSync, mount, unmount } from 'svelte';
import { writable } from 'svelte/store';
import type { MountParts } from './kit.ts';
import Parts from './svelte-parts.svelte';

export const mountInSvelte: MountParts = (options, parts) => {
  const shown = writable(parts);
  const app = mount(Parts, { target: document.createElement('div'), props: { options, shown } });
  flushSync();
  return {
    update: (next) => {
      shown.set(next);
      flushSync();
    },
    unmount: () => void unmount(app),
  };
};
