/** What a server renders for a count below a provider: checked in solid.test.ts, hydrated in solid-only.browser.test.ts. */
export const SERVER_HTML = '<p data-hk="0000">loading</p>';
