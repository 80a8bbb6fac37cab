import type { WebSocket } from 'ws';
import {
  readPageMessage,
  type Arrival,
  type PageError,
  type PageMessage,
} from './page-messages.ts';

/** What a function that ran in the page threw. */
export class ErrorInPage extends Error {
  /** Of a `QueryError`. */
  readonly code: string | undefined;

  constructor({ name = 'Error', message, stack = '', code }: PageError) {
    super(message);
    this.name = name;
    this.code = code;
    this.stack = `${name} in the page: ${message}\n${stack}`;
  }
}

declare global {
  /** Of page/main.js: tells the test something; resolves when the test has it. */
  var tell: (value: unknown) => Promise<void>;
}

interface Waiting<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

/** One tab of a browser, over all the pages that it shows one after the other. */
export class Tab {
  readonly url: string;
  /** What pages told by `tell()`, in order. */
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

  /** Resolves when a page is there and does what it is told. */
  arrived(): Promise<Arrival> {
    return this.arriving.promise;
  }

  /** Calls a function in the page: it sees the page's globals and its argument, nothing around it. */
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

  /** Calls what makes the page go, once it has closed its line; resolves when the next one is there. */
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

  /** To another page of the app. */
  leave(name: string): Promise<Arrival> {
    return this.go((url) => location.assign(url), `${this.url}&page=${name}`);
  }

  back(): Promise<Arrival> {
    return this.go(() => history.back());
  }

  /** Resolves when pages have told so much. */
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

  /** A page has connected. */
  arrive(line: WebSocket, arrival: Arrival): void {
    this.rejectAll('The page is another one now.');
    this.line = line;
    line.on('message', (data: Buffer) => this.receive(readPageMessage(data)));
    this.arriving.resolve(arrival);
  }

  /** The browser has ended. */
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
  // A browser may end while nobody waits for a page.
  promise.catch(() => undefined);
  if (!waiting) throw new Error('A promise calls its function at once.');
  return { promise, ...waiting };
}
