import type { WebSocket } from 'ws';
import {
  readPageMessage,
  type Arrival,
  type PageError,
  type PageMessage,
} from './page-messages.ts';

/** An error that a function in the page has thrown. */
export class ErrorInPage extends Error {
  /** The code, if it was a `QueryError`. */
  readonly code: string | undefined;

  constructor({ name = 'Error', message, stack = '', code }: PageError) {
    super(message);
    this.name = name;
    this.code = code;
    this.stack = `${name} in the page: ${message}\n${stack}`;
  }
}

declare global {
  /** Defined in page/main.js. Sends a value to the test; resolves when the test has received it. */
  var tell: (value: unknown) => Promise<void>;
}

interface Waiting<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

/** One tab of a browser, with all the pages that it shows one after the other. */
export class Tab {
  readonly url: string;
  /** Values that pages have sent with `tell()`, in order. */
  readonly told: unknown[] = [];
  private readonly listeners = new Set<() => void>();
  private line: WebSocket | undefined = undefined;
  private calls = 0;
  private readonly answers = new Map<number, Waiting<unknown>>();
  private arriving: Arriving;

  constructor(url: string) {
    this.url = url;
    this.arriving = newArrival();
  }

  /** Resolves when a page is connected and accepts commands. */
  arrived(): Promise<Arrival> {
    return this.arriving.promise;
  }

  /** Calls a function in the page. It can access the page's globals and its argument, but no variables of the test. */
  async run<R, A = undefined>(
    call: (argument: A) => R | Promise<R>,
    ...[argument]: A extends undefined ? [] : [A]
  ): Promise<R> {
    await this.arrived();
    const number = ++this.calls;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.answers.set(number, { resolve, reject });
    });
    this.say({ type: 'run', call: number, code: String(call), argument });
    return (await answer) as R;
  }

  /** Calls a function that leaves the page, after the page has closed its WebSocket. Resolves when the next page is connected. */
  async go<A = undefined>(
    call: (argument: A) => void,
    ...[argument]: A extends undefined ? [] : [A]
  ): Promise<Arrival> {
    await this.arrived();
    this.arriving = newArrival();
    this.say({ type: 'go', code: String(call), argument });
    return this.arrived();
  }

  reload(): Promise<Arrival> {
    return this.go(() => location.reload());
  }

  /** Goes to another page of the app. */
  leave(name: string): Promise<Arrival> {
    return this.go((url) => location.assign(url), `${this.url}&page=${name}`);
  }

  back(): Promise<Arrival> {
    return this.go(() => history.back());
  }

  /** Resolves when pages have sent `count` values in total. */
  async untilTold(count: number): Promise<void> {
    if (this.told.length >= count) return;
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.told.length < count) return;
        this.listeners.delete(look);
        resolve();
      };
      this.listeners.add(look);
    });
  }

  /** Called when a page has connected. */
  arrive(line: WebSocket, arrival: Arrival): void {
    this.rejectAll('The page is another one now.');
    this.line = line;
    line.on('message', (data: Buffer) => this.receive(readPageMessage(data)));
    this.arriving.resolve(arrival);
  }

  /** Called when the browser has ended. */
  lose(): void {
    this.rejectAll('The browser has ended.');
    this.arriving.reject(new Error('The browser has ended.'));
  }

  private receive(message: PageMessage): void {
    if (message.type === 'tell') {
      this.told.push(message.value);
      this.say({ type: 'heard', number: message.number });
      for (const look of this.listeners) look();
    } else if (message.type === 'answer') {
      const { call, value, error } = message;
      const waiting = this.answers.get(call);
      this.answers.delete(call);
      if (error) waiting?.reject(new ErrorInPage(error));
      else waiting?.resolve(value);
    }
  }

  private say(message: object): void {
    this.line?.send(JSON.stringify(message));
  }

  private rejectAll(why: string): void {
    for (const waiting of this.answers.values()) waiting.reject(new Error(why));
    this.answers.clear();
  }
}

interface Arriving extends Waiting<Arrival> {
  readonly promise: Promise<Arrival>;
}

function newArrival(): Arriving {
  let waiting: Waiting<Arrival> | undefined;
  const promise = new Promise<Arrival>((resolve, reject) => {
    waiting = { resolve, reject };
  });
  // The browser may end when nothing waits for a page.
  promise.catch(() => undefined);
  if (!waiting) throw new Error('A promise calls its function at once.');
  return { promise, ...waiting };
}
