import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** Whether the response is a stream of events: a proxy may have sent a page instead. */
export const isEvents = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false;

/** Reads server-sent events until the stream ends. @param onBytes called for all bytes that arrive, complete events or not */
export function readEvents(
  stream: ReadableStream<Uint8Array>,
  onEvent: (event: EventSourceMessage) => void,
  onBytes: () => void,
): Promise<void> {
  const parser = createParser({ onEvent });
  return readText(stream, (text) => {
    onBytes();
    parser.feed(text);
  });
}

/** Reads a text until the stream ends. @param onText called for each part that arrives */
export async function readText(
  stream: ReadableStream<Uint8Array>,
  onText: (text: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onText(decoder.decode(value, { stream: true }));
  }
}
