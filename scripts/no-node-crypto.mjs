// Stands in for Node's `crypto` in browser bundles: bcryptjs imports it as a fallback for Web Crypto, which is always there.
export default undefined;
