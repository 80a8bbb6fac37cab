/**
 * A feed of hints as server-sent events. Not an async generator, because `return()` of a generator has to wait for its pending
 * `next()`.
 */
import type { FeedEvent, HintFeed } from './hint-feed.ts';

export function eventStream(feed: HintFeed): AsyncIterable<string> & AsyncIterator<string> {
  let isNew = true;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (isNew) {
        isNew = false;
        return { done: false, value: ': hello\n\n' };
      }
      const { done, value } = await feed.next();
      return done === true ? { done, value: undefined } : { done: false, value: textOf(value) };
    },
    async return() {
      await feed.return();
      return { done: true, value: undefined };
    },
  };
}

function textOf(event: FeedEvent): string {
  if ('poke' in event) return `event: poke\ndata: ${JSON.stringify(event.poke)}\n\n`;
  if ('refused' in event) return `event: refused\ndata: ${JSON.stringify(event.refused)}\n\n`;
  return ': still here\n\n';
}
