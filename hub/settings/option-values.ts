/** Values of flags, environment variables and configuration files: checked alike, wherever they come from. */
import { InvalidArgumentError } from 'commander';

export type Parse<T> = (text: string) => T;

export const anyText: Parse<string> = (text) => {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('It must not be empty.');
};

export const integer =
  (min: number, max: number): Parse<number> =>
  (text) => {
    const value = /^\d{1,15}$/.test(text.trim()) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`A whole number from ${min} to ${max} is expected.`);
  };

export const onOff: Parse<boolean> = (text) => {
  if (/^(on|true|yes|1)$/i.test(text.trim())) return true;
  if (/^(off|false|no|0)$/i.test(text.trim())) return false;
  throw new InvalidArgumentError("'on' or 'off' is expected.");
};

export const oneOf =
  <T extends string>(...choices: readonly T[]): Parse<T> =>
  (text) => {
    const found = choices.find((choice) => choice === text.trim());
    if (found !== undefined) return found;
    throw new InvalidArgumentError(`One of ${choices.join(', ')} is expected.`);
  };

export const list: Parse<readonly string[]> = (text) =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');

/** As browsers send it: no path, no slash at the end. */
export const origins: Parse<readonly string[]> = (text) =>
  list(text).map((each) => {
    if (each === '*' || each === 'null') return each;
    const url = URL.canParse(each) ? new URL(each) : undefined;
    if (url && url.origin === each) return each;
    throw new InvalidArgumentError(
      `'${each}' is no origin: https://app.example, http://localhost:5173 or * are.`,
    );
  });

export const baseUrl: Parse<string> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '')
    return text.replace(/\/+$/, '');
  throw new InvalidArgumentError('A URL is expected: https://hub.example');
};

export const postgresUrl: Parse<string> = (text) => {
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('A URL is expected: postgres://user:password@host:5432/database');
};

const ROOT_SECRET_MIN = 24;

/** Colons end a secret, spaces end a header. */
export const rootSecret: Parse<string> = (text) => {
  if (text.length >= ROOT_SECRET_MIN && /^[A-Za-z0-9_.~-]+$/.test(text)) return text;
  throw new InvalidArgumentError(
    `At least ${ROOT_SECRET_MIN} letters, digits, dots, dashes, underscores and tildes are expected.`,
  );
};
