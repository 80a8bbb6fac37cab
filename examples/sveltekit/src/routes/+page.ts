/** Rendered when the app is built, as while the database is being opened; the page takes it over. */
export const prerender = true;
