/** What a server renders for svelte-count-app.svelte: checked in svelte.test.ts, hydrated in svelte-only.browser.test.ts. */
export const SERVER_HTML = '<!--[--><p>loading</p><!--]-->';
