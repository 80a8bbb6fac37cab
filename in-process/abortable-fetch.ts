/** `fetch` whose signal also aborts reading the response body. */

/**
 * Node's own `fetch` loses the connection to the signal once the garbage collector has collected the request, which may happen as soon as
 * the headers have arrived. Then a stream could not be aborted, and a response that stalls would be awaited for ever.
 */
export const abortableFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const { body } = response;
  const signal = init?.signal;
  if (!body || !signal) return response;
  return new Response(body.pipeThrough(new TransformStream(), { signal }), response);
};
