/** What a server renders of svelte-count-app.svelte: checked in svelte.test.ts, taken over in svelte-only.browser.test.ts. */
export const SERVER_HTML = '<!--[--><p>loading</p><!--]-->';
