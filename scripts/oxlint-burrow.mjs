// The one lint rule oxlint has no word for: in the engine, no clock hidden in `new Date()` or `Date()`.

/** @type {any} ESLint's rule shape, as oxlint's `jsPlugins` take it. */
const noHiddenClock = {
  create(/** @type {any} */ context) {
    const check = (/** @type {any} */ node) => {
      if (node.callee.type !== 'Identifier' || node.callee.name !== 'Date') return;
      if (node.type === 'NewExpression' && node.arguments.length > 0) return;
      context.report({ node, message: 'Time is an argument of the engine.' });
    };
    return { NewExpression: check, CallExpression: check };
  },
};

export default { meta: { name: 'burrow' }, rules: { 'no-hidden-clock': noHiddenClock } };
