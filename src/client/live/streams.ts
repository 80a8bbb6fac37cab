import type { DatabaseWorker } from '../connection/database-worker.ts';
import { refusalOf } from '../connection/connection.ts';

interface Reader {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  /** Resolves the pull in progress. */
  settle(): void;
  readonly onEnd: () => void;
}

/** Response bodies that the worker sends part by part, each when the reader asks for it. */
export class Streams {
  readonly #worker: DatabaseWorker;
  readonly #readers = new Map<number, Reader>();
  readonly #encoder = new TextEncoder();

  constructor(worker: DatabaseWorker) {
    this.#worker = worker;
    worker.listen({
      onMessage: (message) => {
        if (message.type === 'part') this.#receive(message.stream, message.part);
        else if (message.type === 'broken') this.#break(message.stream, refusalOf(message.refusal));
      },
      onEnded: (reason) => {
        for (const stream of this.#readers.keys()) this.#break(stream, reason);
      },
    });
  }

  /** Opens the stream with this number at the worker. @param onEnd is called once the stream has ended, failed or was cancelled */
  open(stream: number, onEnd = (): void => undefined): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#readers.set(stream, { controller, settle: () => undefined, onEnd });
        },
        pull: (controller) =>
          new Promise((settle) => {
            this.#readers.set(stream, { controller, settle, onEnd });
            this.#worker.postIfConnected({ type: 'pull', stream }).catch((error: unknown) => {
              this.#break(stream, error);
            });
          }),
        cancel: () => this.cancel(stream),
      },
      { highWaterMark: 0 },
    );
  }

  /** The reader, if there is one, gets `reason` at its next read; the worker stops sending. */
  abort(stream: number, reason: unknown): void {
    this.#break(stream, reason);
    void this.cancel(stream);
  }

  async cancel(stream: number): Promise<void> {
    this.#drop(stream);
    // If the worker has ended, it has stopped sending already.
    await this.#worker.postIfConnected({ type: 'cancel', stream }).catch(() => undefined);
  }

  #receive(stream: number, part: string | Uint8Array | undefined): void {
    const reader = this.#readers.get(stream);
    if (!reader) return;
    if (part === undefined) {
      this.#drop(stream);
      reader.controller.close();
    } else reader.controller.enqueue(typeof part === 'string' ? this.#encoder.encode(part) : part);
    reader.settle();
  }

  #break(stream: number, reason: unknown): void {
    const reader = this.#drop(stream);
    if (!reader) return;
    reader.controller.error(reason);
    reader.settle();
  }

  #drop(stream: number): Reader | undefined {
    const reader = this.#readers.get(stream);
    this.#readers.delete(stream);
    reader?.onEnd();
    return reader;
  }
}
