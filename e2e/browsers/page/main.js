// A page that connects to the test over a WebSocket and executes its commands. Any browser can be driven in this way.
import * as burrow from './burrow.js';

/** Name of this tab. It survives reloads and navigations, because each address of the tab contains it. */
const tab = new URL(location.href).searchParams.get('tab');

/** Callbacks of `tell()` that wait for the test to confirm the message. @type {Map<number, () => void>} */
const heard = new Map();
let told = 0;
/** @type {WebSocket} */
let line;

/** Sends a value to the test. Resolves when the test has received it. */
const tell = (value) =>
  new Promise((resolve) => {
    heard.set(++told, resolve);
    send({ type: 'tell', number: told, value });
  });

function send(message) {
  if (line.readyState === WebSocket.OPEN) line.send(JSON.stringify(message));
}

/** @param {'load' | 'show'} arrival `show`: the browser shows the page from the back/forward cache, with its state */
function connect(arrival) {
  line = new WebSocket(`ws://${location.host}/`);
  line.addEventListener('open', () => send({ type: 'hello', tab, arrival }));
  line.addEventListener('message', ({ data }) => {
    const message = JSON.parse(data);
    if (message.type === 'heard') {
      heard.get(message.number)?.();
      heard.delete(message.number);
    } else if (message.type === 'run') void run(message);
    else if (message.type === 'go') go(message);
  });
}

/** The function with this source text. It can access the page's globals, but nothing in this file. */
// oxlint-disable-next-line typescript/no-implied-eval -- the test is ours
const functionOf = (code) => new Function(`return (${code})`)();

async function run({ call, code, argument }) {
  try {
    const value = await functionOf(code)(argument);
    send({ type: 'answer', call, value });
  } catch (error) {
    const { name, message, stack, code } = Object(error);
    send({ type: 'answer', call, error: { name, message: message ?? String(error), stack, code } });
  }
}

/**
 * Closes the WebSocket before the page is left, because browsers do not cache a page with an open connection. Firefox counts the connection
 * as open for one more turn of the event loop.
 */
function go({ code, argument }) {
  line.addEventListener('close', () => setTimeout(() => functionOf(code)(argument)), {
    once: true,
  });
  line.close();
}

addEventListener('pageshow', (event) => {
  if (event.persisted) connect('show');
});

Object.assign(globalThis, { burrow, tell });
connect('load');
