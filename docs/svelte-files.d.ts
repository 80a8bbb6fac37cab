/** Components of Svelte that code in docs/ imports, as its compiler declares them. */
declare module '*.svelte' {
  import type { Component } from 'svelte';
  const component: Component<Record<string, unknown>>;
  export default component;
}
