// A page that connects to the test by WebSocket and does what it is told: any browser can be driven this way.
import * as burrow from './burrow.js';

/** Which tab this is: kept over reloads and navigations, for each of its addresses says it. */
const tab = new URL(location.href).searchParams.get('tab');

/** Answers of the test to `tell()`. @type {Map<number, () => void>} */
const heard = new Map();
let told = 0;
/** @type {WebSocket} */
let line;

/** Tells the test something; resolves when the test has it. */
const tell = (value) =>
  new Promise((resolve) => {
    heard.set(++told, resolve);
    send({ type: 'tell', number: told, value });
  });

function send(message) {
  if (line.readyState === WebSocket.OPEN) line.send(JSON.stringify(message));
}

/** @param {'load' | 'show'} arrival `show`: the browser had kept the page, and shows it again as it was */
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

/** Of its source. It sees this page's globals, and nothing of this file. */
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

/** Browsers keep no page that has a connection: it is closed before the page is left. Firefox counts it as open for one turn more. */
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
