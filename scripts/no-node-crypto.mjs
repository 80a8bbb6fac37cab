// Replaces Node's `crypto` in browser bundles: bcryptjs imports it as a fallback for Web Crypto, which all browsers have.
export default undefined;
