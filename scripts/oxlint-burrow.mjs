// The project's own lint rules.

/**
 * Rejects `Date()` and `new Date()` in the engine, because they read the clock.
 * @type {any} The shape of ESLint's rules, which oxlint's `jsPlugins` accept.
 */
const noHiddenClock = {
  create(/** @type {any} */ context) {
    const check = (/** @type {any} */ node) => {
      if (node.callee.type !== 'Identifier' || node.callee.name !== 'Date') return;
      if (node.type === 'NewExpression' && node.arguments.length > 0) return;
      context.report({
        node,
        message: 'Pass the time in as an argument: the engine reads no clock.',
      });
    };
    return { NewExpression: check, CallExpression: check };
  },
};

const LOOPS = new Set(['map', 'flatMap', 'filter', 'some', 'every', 'find', 'forEach', 'reduce']);
const READS = new Set(['row', 'range']);
const READERS = new Set(['reader', 'writer', 'base']);

/** @param {any} node */
const nameOf = (node) => (node.type === 'Identifier' ? node.name : node.property?.name);

/** Whether a call reads from the store, or applies a lambda, which may read. Reads that assume absence never wait. @param {any} node */
function isRead({ type, callee, arguments: given }) {
  if (type !== 'CallExpression' || callee.type !== 'MemberExpression') return false;
  const [object, method] = [nameOf(callee.object), callee.property.name];
  if (object === 'context') return method === 'apply';
  return READERS.has(object) && READS.has(method) && given.length === 1;
}

/** @param {any} node @returns {boolean} */
const holdsRead = (node) =>
  isRead(node) ||
  Object.entries(node).some(
    ([key, child]) =>
      key !== 'parent' &&
      [child].flat().some((each) => typeof each?.type === 'string' && holdsRead(each)),
  );

/**
 * Rejects loop methods whose body reads: the first missing read ends the loop, which makes one round trip per element. See
 * src/query/README.md.
 */
const eachForReads = {
  create(/** @type {any} */ context) {
    const check = (/** @type {any} */ node) => {
      const { callee } = node;
      if (callee.type !== 'MemberExpression' || !LOOPS.has(callee.property.name)) return;
      const [body] = node.arguments;
      if (!body || !/Function/.test(body.type) || !holdsRead(body.body)) return;
      const message = `${callee.property.name}() makes one round trip per element that reads: use eachElement() or context.each().`;
      context.report({ node, message });
    };
    return { CallExpression: check };
  },
};

/** Rejects casts to `Key` outside the codec, because other text does not sort like values. */
const keysFromCodec = {
  create(/** @type {any} */ context) {
    const check = (/** @type {any} */ node) => {
      if (node.typeAnnotation.typeName?.name !== 'Key') return;
      context.report({ node, message: 'Keys are made in src/codec/key.ts only.' });
    };
    return { TSAsExpression: check, TSTypeAssertion: check };
  },
};

/** @param {any} node @returns {boolean} */
const isInFunction = (node) =>
  node !== null && (/Function/.test(node.type) || isInFunction(node.parent));

/**
 * Rejects errors that are created while a file is loaded: to capture the stack, Chromium parses the whole bundle again, which adds 50 ms to
 * each start.
 */
const noErrorsAtLoad = {
  create(/** @type {any} */ context) {
    const check = (/** @type {any} */ node) => {
      if (!/(Error|Refusal)$/.test(nameOf(node.callee) ?? '') || isInFunction(node)) return;
      context.report({ node, message: 'An error is made where it is thrown, not at load.' });
    };
    return { NewExpression: check };
  },
};

export default {
  meta: { name: 'burrow' },
  rules: {
    'no-hidden-clock': noHiddenClock,
    'each-for-reads': eachForReads,
    'keys-from-codec': keysFromCodec,
    'no-errors-at-load': noErrorsAtLoad,
  },
};
