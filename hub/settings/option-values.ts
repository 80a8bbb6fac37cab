/** Parsers of option values: the same for flags, environment variables and configuration files. */
import { isIP, isIPv6, SocketAddress } from 'node:net';

/** What the operator gave is invalid: the message says what is expected. */
export class SettingsFault extends Error {}

/** @throws SettingsFault */
export type Parse<T> = (text: string) => T;

const refuse = (expected: string, text: string): never => {
  throw new SettingsFault(`expected ${expected}, got '${text}'`);
};

export const anyText: Parse<string> = (text) => (text.trim() === '' ? refuse('text', text) : text);

/** URLs write IPv6 addresses in brackets, and sockets without. */
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

/** As sockets have them: of a name, or a network, none would ever be known. */
export const addresses: Parse<readonly string[]> = (text) =>
  list(text).map((each) =>
    isIP(each) > 0 ? asOfSocket(each) : refuse('addresses like 10.0.0.2', each),
  );

/** One IPv6 address has many spellings; one of IPv4 is known without its prefix. */
function asOfSocket(address: string): string {
  if (!isIPv6(address)) return address;
  const [plain = '', ...zone] = address.split('%');
  const spelt = new SocketAddress({ address: plain, family: 'ipv6' }).address;
  return [spelt.replace(/^::ffff:(?=[\d.]+$)/, ''), ...zone].join('%');
}

/** Compared with what a `Host` header names, without its port. */
export const hostNames: Parse<readonly string[]> = (text) =>
  list(text).map((each) =>
    /^(?:[^\s:/*]+|\[[\da-f:.]+\])$/i.test(each)
      ? each
      : refuse('names of hosts like hub.example, without a port', each),
  );

/**
 * As browsers send it: no path, no slash at the end. Apps in shells and extensions have schemes of their own, whose origin
 * `URL` does not tell. Each is compared as a whole: an origin with a `*` would let nobody in.
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

/** All; that of files and sandboxed frames; that of files in some shells. */
const SPECIAL_ORIGINS = new Set(['*', 'null', 'file://']);

/** Not quoted when it has a password. */
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

/** A URL of something else would make a folder of that name. Not quoted: it may hold a password. */
export const folder: Parse<string> = (text) => {
  if (text.includes('://')) throw new SettingsFault('expected a folder, got a URL');
  return anyText(text);
};

export const folderOrBucket: Parse<string> = (text) => {
  if (!text.includes('://')) return anyText(text);
  if (plainUrl(text) && /^https?:\/\//.test(text)) return text;
  throw new SettingsFault('expected a folder, or the URL of a bucket like https://host/bucket');
};

/** Not quoted when it is invalid: it may hold a password. */
export const postgresUrl: Parse<string> = (text) => {
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new SettingsFault('expected a URL like postgres://user:password@host:5432/database');
};

/** Of a hub that shares its PostgreSQL database with no other. */
export const TENANT_DEFAULT = 'main';

export const tenantName: Parse<string> = (text) =>
  /^[a-z0-9_-]{1,63}$/.test(text)
    ? text
    : refuse('at most 63 lower-case letters, digits, dashes and underscores', text);

const ROOT_SECRET_MIN = 24;

/** Colons end a secret, spaces end a header. Not quoted when it is invalid. */
export const rootSecret: Parse<string> = (text) => {
  if (text.length >= ROOT_SECRET_MIN && /^[A-Za-z0-9_.~-]+$/.test(text)) return text;
  throw new SettingsFault(
    `expected at least ${ROOT_SECRET_MIN} letters, digits, dots, dashes, underscores or tildes`,
  );
};
