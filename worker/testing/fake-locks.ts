/** One Web Lock, for tests in Node. */
type Body = () => Promise<void>;

interface Held {
  readonly run: () => void;
  readonly lose: (reason?: unknown) => void;
}

/** Requests get the lock in order; a request that steals gets it at once. */
export class FakeLocks {
  private readonly waiting: Held[] = [];
  private held: Held | undefined = undefined;

  request(_: string, how: { signal?: AbortSignal; steal?: boolean }, body: Body): Promise<void> {
    return new Promise((resolve, reject) => {
      const lose = (reason: unknown = new DOMException('Lock broken', 'AbortError')): void =>
        reject(reason);
      const me: Held = {
        run: () => {
          this.held = me;
          const passOn = (): void => {
            if (this.held === me) this.passOn();
          };
          body().finally(passOn).then(resolve, reject);
        },
        lose,
      };
      if (how.signal?.aborted) return lose(how.signal.reason);
      how.signal?.addEventListener('abort', () => {
        const at = this.waiting.indexOf(me);
        if (at < 0) return;
        this.waiting.splice(at, 1);
        lose(how.signal?.reason);
      });
      if (how.steal === true) {
        this.held?.lose();
        me.run();
      } else if (this.held) this.waiting.push(me);
      else me.run();
    });
  }

  private passOn(): void {
    this.held = undefined;
    this.waiting.shift()?.run();
  }
}
