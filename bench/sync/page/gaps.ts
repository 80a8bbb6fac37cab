/** Measures how long the main thread is blocked. Its ticks are messages, because browsers clamp timers. */

export interface Gaps {
  /** Ends the measurement. Returns the longest times in ms between two ticks and between two frames, and the number of ticks. */
  stop(): Promise<{ readonly tick: number; readonly frame: number; readonly ticks: number }>;
}

const TICK_MS = 2;

let current: Gaps | undefined;

export function startGaps(): Gaps {
  let lastTick = performance.now();
  let lastFrame = lastTick;
  let tick = 0;
  let frame = 0;
  let ticks = 0;
  let isStopped = false;
  const channel = new MessageChannel();
  const beat = (): void => {
    const now = performance.now();
    tick = Math.max(tick, now - lastTick);
    lastTick = now;
    ticks += 1;
    if (isStopped) channel.port1.close();
    else setTimeout(() => channel.port2.postMessage(0), TICK_MS);
  };
  const paint = (): void => {
    const now = performance.now();
    frame = Math.max(frame, now - lastFrame);
    lastFrame = now;
    if (!isStopped) requestAnimationFrame(paint);
  };
  channel.port1.addEventListener('message', beat);
  channel.port1.start();
  channel.port2.postMessage(0);
  requestAnimationFrame(paint);
  return {
    async stop() {
      await new Promise((resolve) => setTimeout(resolve, 50));
      isStopped = true;
      return { tick, frame, ticks };
    },
  };
}

/** Starts a measurement, or ends the current one and returns its result. */
export async function watchGaps(
  isOn: boolean,
): Promise<Awaited<ReturnType<Gaps['stop']>> | undefined> {
  const before = current;
  current = isOn ? startGaps() : undefined;
  return before?.stop();
}
