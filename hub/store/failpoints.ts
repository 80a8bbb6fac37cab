/** Points at which a test kills or stops the process. Only in test builds: elsewhere `HUB_FAILPOINT` is ignored. */
import type { Store } from '../../src/store/port.ts';

declare global {
  /** Defined by the bundler in test builds. */
  var BURROW_FAILPOINTS: boolean | undefined;
}

/**
 * `HUB_FAILPOINT` is `before-commit:kill`, `after-commit:kill` or `before-commit:stop`. A suffix such as `:3` selects the third
 * commit of documents.
 */
export function withFailpoints(store: Store, wanted: string | undefined): Store {
  const isTest = globalThis.BURROW_FAILPOINTS;
  if (isTest !== true || wanted === undefined) return store;
  const [place, action, nth = '1'] = wanted.split(':');
  if (action !== 'kill' && action !== 'stop')
    throw new Error(`HUB_FAILPOINT has no action ${action ?? ''}.`);
  const act = action === 'kill' ? killed : stopped;
  let left = Number(nth);
  const isNow = (): boolean => (left -= 1) === 0;
  return {
    ...store,
    read: (...args) => store.read(...args),
    close: () => store.close(),
    async write(body, options) {
      let hasDocuments = false;
      const value = await store.write(async (tx) => {
        hasDocuments = false;
        const made = await body({
          fetch: (...args) => tx.fetch(...args),
          apply(writes) {
            hasDocuments ||= writes.puts.some(({ space }) => space === 'documents');
            tx.apply(writes);
          },
        });
        if (place === 'before-commit' && hasDocuments && isNow()) await act();
        return made;
      }, options);
      if (place === 'after-commit' && hasDocuments && isNow()) await act();
      return value;
    },
  };
}

/** Stops the process until it receives SIGCONT. */
async function stopped(): Promise<void> {
  process.kill(process.pid, 'SIGSTOP');
}

function killed(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}
