// Parts of packages that our bundles leave out: of Dexie all but opening, upgrading and deleting a database, of Comlink all but calls,
// of bcryptjs its tables, of eventsource-parser its limits on a stream and its error reports.
// Browser tests run with the trimmed packages. The build fails if a new release does not contain a part under the name used here.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A part of a file, from a text that occurs once to the next occurrence of an end. @typedef {readonly [string, string]} Part */
/** @typedef {readonly [Part, string]} Edit a part, and its replacement */

/** @type {(name: string) => Part} */
const fn = (name) => [`\nfunction ${name}(`, '\n}\n'];
/** @type {(name: string) => Part} */
const classOf = (name) => [`\nclass ${name} {\n`, '\n}\n'];
/** @type {(name: string) => Part} */
const method = (name) => [`\n    ${name}(`, '\n    }\n'];
/** @type {(text: string) => Part} */
const line = (text) => [`\n${text}`, '\n'];
/** @type {(part: Part) => Edit} */
const without = (part) => [part, '\n'];

/** Code that only these parts refer to is removed by the bundler's tree shaking. @type {readonly Edit[]} */
const OF_DEXIE = [
  // Dexie's upgrade reads one row: the version of a database that once lacked stores.
  [
    classOf('Table'),
    `
class Table {
    get(key) {
        return new DexiePromise((resolve, reject) => {
            const request = this._tx.idbtrans.objectStore(this.name).get(key);
            request.onsuccess = wrap(() => resolve(request.result));
            request.onerror = eventRejectHandler(reject);
        });
    }
}
`,
  ],
  [
    fn('createTableConstructor'),
    `
function createTableConstructor(db) {
    return makeClassConstructor(Table.prototype, function Table(name, schema, tx) {
        Object.assign(this, { db, name, schema, _tx: tx });
    });
}
`,
  ],
  [
    fn('generateMiddlewareStacks'),
    '\nfunction generateMiddlewareStacks(db) { db.core = { table: nop }; }\n',
  ],
  ...['createCollectionConstructor', 'createWhereClauseConstructor', 'signalSubscribersNow'].map(
    /** @returns {Edit} */ (name) => [fn(name), `\nfunction ${name}() {}\n`],
  ),
  // Looking up all these classes takes a browser 2 ms, and the function that clones objects is never called.
  without(["\nconst intrinsicTypeNames = '", '));\n']),
  // Dexie's own promises pass a transaction from function to function, by patching the browser's. No transaction of Dexie is used here.
  [
    ['\nvar INTERNAL = {};\n', '\nvar rejection = DexiePromise.reject;\n'],
    `
const DexiePromise = Promise;
const rejection = (reason) => Promise.reject(reason);
const wrap = (fn, onError) =>
    function (...args) {
        try {
            return fn.apply(this, args);
        }
        catch (e) {
            onError && onError(e);
        }
    };
const newScope = (fn) => fn();
`,
  ],
  without(line('DexiePromise.rejectionMapper = mapError;')),
  [fn('vip'), '\nconst vip = newScope;\n'],
  [method('open'), '\n    open() { return dexieOpen(this); }\n'],
  without(line('    const transless = PSD.transless || PSD;')),
  without(['\n        PSD.trans = trans;', 'PSD.transless = transless;\n']),
  without(line('        assert(this._completion._state === null);')),
  [
    ['\n                : wasActive && this.idbtrans && ', 'return rejection(e);\n'],
    '\n                : wasActive && this.idbtrans && this.idbtrans.abort();\n',
  ],
  // Only an error's name and the browser's message are read. There are no bulk operations, so none can fail with several errors.
  [
    ['\nvar dexieErrorNames = [', '\nfullNameExceptions.BulkError = BulkError;\n'],
    `
const exceptions = new Proxy({}, {
    get: (_, name) => class extends Error {
        constructor(reason) {
            super(typeof reason === 'string' ? reason : reason?.message);
            this.name = name + 'Error';
            this.inner = typeof reason === 'string' ? null : reason;
        }
    },
});
`,
  ],
  // Only Dexie itself listens to its events, with one listener each.
  [
    fn('Events'),
    `
function Events(ctx, ...names) {
    const on = (name, fire) => (fire ? (on[name] = { fire }) : on[name]);
    for (const name of names) on[name] = { fire: nop };
    return on;
}
`,
  ],
  [
    ["\n        this.on = Events(this, 'populate'", '});\n'],
    "\n        this.on = Events(this, 'blocked', 'versionchange', 'close');\n",
  ],
  without(['\n        this.once = (event, callback) => {', '\n        };\n']),
  without(['\n        this.on.ready.subscribe = override(', '\n        });\n']),
  without(['\n        state.onReadyBeingFired = [];\n        return', '\n        });\n']),
  without(["\n            if ('mutatedParts' in idbtrans) {", '\n            }\n']),
  without(['\n        if (wasCreated) {', '\n        }\n']),
  // Tables are never accessed as properties of a database or transaction.
  ...['setApiOnPlace', 'removeTablesApi'].map(
    /** @returns {Edit} */ (name) => [fn(name), `\nfunction ${name}() {}\n`],
  ),
  // The object that listeners of "ready" get, which lets them run before calls that wait for "ready".
  without(['\n        const vipDB = new Proxy(this, {', '\n        this.vip = vipDB;\n']),
  // An upgrade changes stores and indexes, not rows.
  without(method('upgrade')),
  without(['\n            if (contentUpgrade && version._cfg', '\n            }\n']),
  without(['\n            DexiePromise.follow(() => db.on.populate', '\n']),
  // Dexie stores database names for browsers that cannot list databases. They are never read here.
  ...['_onDatabaseCreated', '_onDatabaseDeleted'].map(
    /** @returns {Edit} */ (name) => [fn(name), `\nfunction ${name}() {}\n`],
  ),
  ...['_whenReady', 'use', 'unuse', 'transaction', '_transaction'].map((name) =>
    without(method(name)),
  ),
  ...['_lock', '_unlock', '_locked', '_promise', 'waitFor', '_root'].map((name) =>
    without(method(name)),
  ),
  ...['cacheExistingValues', 'cache', 'observability', 'virtualIndex', 'hooks'].map((name) =>
    without(line(`        this.use(${name}Middleware);`)),
  ),
  without(line('        this._maxKey = getMaxKey(options.IDBKeyRange);')),
  without(line('Dexie.maxKey = getMaxKey(Dexie.dependencies.IDBKeyRange);')),
  // Dexie's live queries across tabs are not used: they open a channel and add listeners to the page.
  [['\nconst RangeSet = function (', '\n};\n'], '\nfunction RangeSet() {}\n'],
  without(['\nprops(RangeSet.prototype, {', '\n});\n']),
  without(["\nif (typeof dispatchEvent !== 'undefined' &&", '\n}\n']),
  without(['\nlet createBC = () => { };\nif ', '\n}\n']),
  without(["\nif (typeof addEventListener !== 'undefined') {", '\n}\n']),
  // Of the static members, the constructor needs two and we need one.
  [
    ['\nprops(Dexie, {\n', '\n});\n'],
    `
props(Dexie, {
    delete: (name) => new Dexie(name, { addons: [] }).delete(),
    vip,
    addons: [],
    dependencies: domDeps,
});
`,
  ],
  [['\nexport {', '};\n'], '\nexport { Dexie$1 as Dexie };\n'],
];

/**
 * A page only calls functions of its worker. It does not get, set or construct anything there, and passes no functions.
 * @type {readonly Edit[]}
 */
const OF_COMLINK = [
  without(line('    ["proxy", proxyTransferHandler],')),
  ...['GET', 'SET', 'CONSTRUCT', 'ENDPOINT', 'RELEASE'].map((type) =>
    without([`\n                case "${type}" /* MessageType.${type} */:`, 'break;\n']),
  ),
  without(['\n            if (type === "RELEASE"', '\n            }\n']),
  [
    fn('createProxy'),
    `
function createProxy(ep, pendingListeners, path = []) {
    return new Proxy(function () { }, {
        // Not a promise, to whoever awaits it.
        get: (_target, prop) => prop === "then" ? undefined : createProxy(ep, pendingListeners, [...path, prop]),
        apply(_target, _thisArg, rawArgumentList) {
            const [argumentList, transferables] = processArguments(rawArgumentList);
            const call = { type: "APPLY" /* MessageType.APPLY */, path, argumentList };
            return requestResponseMessage(ep, pendingListeners, call, transferables).then(fromWireValue);
        },
    });
}
`,
  ],
  without(['\nconst proxyFinalizers = ', '\n    });\n']),
  [['\nexport { createEndpoint', ';\n'], '\nexport { expose, transfer, wrap };\n'],
];

/**
 * Blowfish's initial tables are the fractional digits of π in 32-bit words. Computing them makes the bundle 5 kB smaller.
 * @type {readonly Edit[]}
 */
const OF_BCRYPTJS = [
  [
    ['\nvar P_ORIG = [', '];\n'],
    `
var ORIG;
/** Chudnovsky's series, of which each term has 47 bits more. */
function fractionOfPi(words) {
  const one = 1n << BigInt(32 * words + 64);
  let term = one;
  let sum = 0n;
  for (let k = 0n; term !== 0n;) {
    sum += term * (13591409n + 545140134n * k);
    k += 1n;
    term = (term * -((6n * k - 5n) * (2n * k - 1n) * (6n * k - 1n))) / (k * k * k * 10939058860032000n);
  }
  const square = 10005n * one * one;
  let root = one * 101n;
  for (let next = root - 1n; next < root;) {
    root = next;
    next = (root + square / root) >> 1n;
  }
  const digits = (((426880n * root * one) / sum & (one - 1n)) >> 64n).toString(16).padStart(words * 8, '0');
  return Int32Array.from({ length: words }, (_, at) => parseInt(digits.slice(at * 8, at * 8 + 8), 16));
}
`,
  ],
  without(['\nvar S_ORIG = [', '];\n']),
  [
    ['\n  //Use typed arrays when available', '\n  }\n'],
    `
  ORIG ??= fractionOfPi(18 + 1024);
  P = ORIG.slice(0, 18);
  S = ORIG.slice(18);
`,
  ],
];

/**
 * Only the events of a stream are read: no limit is set, errors are not reported, and the parser is not reset. Lines and fields are parsed
 * as in the original, but without its fast path for the most common lines.
 * @type {readonly Edit[]}
 */
const OF_EVENTSOURCE_PARSER = [
  [['class ParseError extends Error {\n', '\n}\n'], ''],
  [
    ['\n  if (typeof config == "function")', '\n  function parseLine('],
    `
  const { onEvent } = config, pending = [];
  let data = "", dataLines = 0, eventType;
  function feed(chunk) {
    pending.push(chunk);
    if (!/[\\r\\n]/.test(chunk)) return;
    // The other half of a line's end may be in the next chunk.
    const lines = pending.join("").split(/\\r\\n|\\n|\\r(?!$)/);
    pending.length = 0;
    pending.push(lines.pop());
    for (const line of lines) parseLine(line, 0, line.length);
  }
  function parseLine(`,
  ],
  [
    [
      '\n    if (isDataPrefix(chunk, start, firstCharCode)) {\n      const',
      '\n    const line = chunk.slice(start, end), ',
    ],
    '\n    if (firstCharCode === 58) return;\n    const line = chunk.slice(start, end), ',
  ],
  without(['\n      case "id":', 'break;\n']),
  without(['\n      case "retry":', 'break;\n']),
  without(['\n      default:', 'break;\n']),
  [
    ['\n    dataLines > 0 && onEvent({', '\n  }\n'],
    '\n    dataLines > 0 && onEvent({ event: eventType, data }), data = "", dataLines = 0, eventType = void 0;\n  }\n',
  ],
  without(['\n  function reset(', '\n  }\n']),
  [['\n  return { feed, reset', '\n'], '\n  return { feed };\n'],
  [['\nexport {\n  ParseError,', 'index.js.map'], '\nexport { createParser };\n'],
];

/**
 * @param {string} code
 * @param {readonly Edit[]} edits
 */
function edited(code, edits) {
  return edits.reduce((text, [[beginning, end], by]) => {
    const start = text.indexOf(beginning);
    const stop = text.indexOf(end, start + 1);
    if (start === -1 || stop === -1 || text.includes(beginning, start + 1))
      throw new Error(
        `scripts/trim-packages.mjs names a part that is not in the package, or is there twice: ${JSON.stringify(beginning)}. Look at what the new release has instead.`,
      );
    return text.slice(0, start) + by + text.slice(stop + end.length);
  }, code);
}

const TRIMMED = [
  { name: 'comlink', file: 'node_modules/comlink/dist/esm/comlink.mjs', edits: OF_COMLINK },
  { name: 'dexie', file: 'node_modules/dexie/dist/modern/dexie.mjs', edits: OF_DEXIE },
  { name: 'bcryptjs', file: 'node_modules/bcryptjs/index.js', edits: OF_BCRYPTJS },
  {
    name: 'eventsource-parser',
    file: 'node_modules/eventsource-parser/dist/index.js',
    edits: OF_EVENTSOURCE_PARSER,
  },
];

/**
 * Only our own sources get the trimmed packages. Other code in a bundle, such as the databases that benchmarks compare with, does not.
 * @returns {{
 *   name: string, enforce: 'pre',
 *   resolveId(source: string, importer?: string): string | undefined, load(id: string): string | undefined
 * }}
 */
export const trimPackages = () => ({
  name: 'burrow:trim-packages',
  enforce: 'pre',
  resolveId(source, importer = '') {
    if (!isOurs(importer)) return undefined;
    const found = TRIMMED.find(({ name }) => isOf(name, source));
    return found && `${join(root, found.file)}${MARK}`;
  },
  load(id) {
    const found = TRIMMED.find(({ file }) => id === `${join(root, file)}${MARK}`);
    return found && edited(readFileSync(join(root, found.file), 'utf8'), found.edits);
  },
});

const MARK = '?trimmed';

/** @param {string} importer */
const isOurs = (importer) => /^(?:src|worker|hosts)[\\/]/.test(relative(root, importer));

/** Whether the import is of this package, as written or as an alias has resolved it. @param {string} name @param {string} source */
const isOf = (name, source) =>
  source === name || source.replaceAll('\\', '/').includes(`/node_modules/${name}/dist/`);
