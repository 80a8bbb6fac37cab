/** Parsers of option values, used for flags, environment variables and configuration files alike. */
import { isIP, isIPv6, SocketAddress } from 'node:net';

/** The operator gave an invalid value. The message says what is expected. */
export class SettingsFault extends Error {}

/** @throws SettingsFault */
export type Parse<T> = (text: string) => T;

const refuse = (expected: string, text: string): never => {
  throw new SettingsFault(`expected ${expected}, got '${text}'`);
};

export const anyText: Parse<string> = (text) => (text.trim() === '' ? refuse('text', text) : text);

/** URLs write IPv6 addresses in brackets, but sockets expect them without. */
export const hostToListenOn: Parse<string> = (text) => anyText(text).replace(/^\[(.+)\]$/, '$1');

export const integer =
  (min: number, max: number): Parse<number> =>
  (text) => {
    const value = /^\d{1,16}$/.test(text.trim()) ? Number(text) : Number.NaN;
    return value >= min && value <= max
      ? value
      : refuse(`a whole number from ${min} to ${max}`, text);
  };

export const onOff: Parse<boolean> = (text) => {
  if (/^(on|true|yes|1)$/i.test(text.trim())) return true;
  if (/^(off|false|no|0)$/i.test(text.trim())) return false;
  return refuse("'on' or 'off'", text);
};

export const oneOf =
  <T extends string>(...choices: readonly T[]): Parse<T> =>
  (text) =>
    choices.find((choice) => choice === text.trim()) ??
    refuse(`one of ${choices.join(', ')}`, text);

const list: Parse<readonly string[]> = (text) =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');

/** Addresses as sockets report them. Host names and networks are refused, because the address of a socket would never equal them. */
export const addresses: Parse<readonly string[]> = (text) =>
  list(text).map((each) =>
    isIP(each) > 0 ? asOfSocket(each) : refuse('addresses like 10.0.0.2', each),
  );

/** Normalizes an address: an IPv6 address has many spellings, and an IPv4 address may be written as IPv6 (`::ffff:1.2.3.4`). */
function asOfSocket(address: string): string {
  if (!isIPv6(address)) return address;
  const [plain = '', ...zone] = address.split('%');
  const spelt = new SocketAddress({ address: plain, family: 'ipv6' }).address;
  return [spelt.replace(/^::ffff:(?=[\d.]+$)/, ''), ...zone].join('%');
}

/** Compared with the host name in the `Host` header, without its port. */
export const hostNames: Parse<readonly string[]> = (text) =>
  list(text).map((each) =>
    /^(?:[^\s:/*]+|\[[\da-f:.]+\])$/i.test(each)
      ? each
      : refuse('names of hosts like hub.example, without a port', each),
  );

/**
 * Origins as browsers send them: no path, no slash at the end. Native app shells and browser extensions have schemes of their
 * own, for which `URL` reports no origin. Origins are compared as a whole, so one that contains `*` would never match and is
 * refused.
 */
export const origins: Parse<readonly string[]> = (text) =>
  list(text).map((each) => {
    const isOwn = /^(?!https?:)[a-z][a-z\d+.-]*:\/\/[^\s/?#@]+$/.test(each);
    const isOrigin = isOwn || (URL.canParse(each) && new URL(each).origin === each);
    return (isOrigin && !each.includes('*')) || SPECIAL_ORIGINS.has(each)
      ? each
      : refuse(
          'origins like https://app.example, http://localhost:5173 or capacitor://localhost, or *',
          each,
        );
  });

/** `*`: all origins; `null`: files and sandboxed frames; `file://`: files in some app shells. */
const SPECIAL_ORIGINS = new Set(['*', 'null', 'file://']);

/** If the URL has a password, the error message does not quote it. */
function plainUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url?.username && !url?.password) return url;
  throw new SettingsFault('expected a URL without a password');
}

export const baseUrl: Parse<string> = (text) => {
  const url = plainUrl(text);
  const isBase = url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  return isBase ? text.replace(/\/+$/, '') : refuse('a URL like https://hub.example', text);
};

/** Refuses URLs, because they would create a folder of that name. The message does not quote the text: it may contain a password. */
export const folder: Parse<string> = (text) => {
  if (text.includes('://')) throw new SettingsFault('expected a folder, got a URL');
  return anyText(text);
};

export const folderOrBucket: Parse<string> = (text) => {
  if (!text.includes('://')) return anyText(text);
  if (plainUrl(text) && /^https?:\/\//.test(text)) return text;
  throw new SettingsFault('expected a folder, or the URL of a bucket like https://host/bucket');
};

/** The message does not quote an invalid URL: it may contain a password. */
export const postgresUrl: Parse<string> = (text) => {
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new SettingsFault('expected a URL like postgres://user:password@host:5432/database');
};

/** The tenant of a hub that does not share its PostgreSQL database with other hubs. */
export const TENANT_DEFAULT = 'main';

export const tenantName: Parse<string> = (text) =>
  /^[a-z0-9_-]{1,63}$/.test(text)
    ? text
    : refuse('at most 63 lower-case letters, digits, dashes and underscores', text);

const ROOT_SECRET_MIN = 24;

/**
 * A root secret must not contain a colon, which would end it in a scoped secret, or a space, which would end it in a header. The
 * message does not quote it.
 */
export const rootSecret: Parse<string> = (text) => {
  if (text.length >= ROOT_SECRET_MIN && /^[A-Za-z0-9_.~-]+$/.test(text)) return text;
  throw new SettingsFault(
    `expected at least ${ROOT_SECRET_MIN} letters, digits, dots, dashes, underscores or tildes`,
  );
};
