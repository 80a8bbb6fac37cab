/**
 * What a database is opened with. A row is all that an option needs whose value the worker reads: `openDatabase` takes and checks it,
 * the worker finds it in `OpenOptions`, docs/options.md lists it. Options that only the page reads are in src/client/options.ts.
 */
import { LIMITS } from '../limits.ts';
import { flag, integer, oneOf, option, optional, text, type OptionValues } from './options.ts';

export const SETTINGS = {
  /** `strict`: a write that resolved survives a power failure; `relaxed`: it survives a killed browser. */
  durability: option(oneOf('strict', 'relaxed'), 'strict'),
  /**
   * How the database is stored: packed in blocks, with a log, or in one row of IndexedDB for each document. A database stored as rows
   * is moved into blocks; a packed one stays packed. `rows` is for an app that may have to go back to a build that knows rows only.
   */
  store: option(oneOf('packed', 'rows'), 'packed'),
  /** The query log, off by default. */
  log: {
    /** Records queries in the query log. */
    enabled: option(flag, false),
    /** Days that query records are kept. */
    retentionDays: option(integer(1, 3650), 30),
    /** Bytes of query records that are kept; the oldest are removed first. */
    maxBytes: option(integer(0), 64 * 1024 * 1024),
  },
  /** bcrypt cost of new password hashes. */
  hashCost: option(integer(LIMITS.hashCostNewMin, LIMITS.hashCostMax), LIMITS.hashCostDefault),
  /** Who may read the document of a token: the token itself, or only callers whom a role allows. */
  ownDocument: option(oneOf('readable', 'by role'), 'readable'),
  /**
   * The audience that tokens of identity providers (JWT) must name. With it, the database itself has access providers, not only its
   * child databases.
   */
  audience: optional(text),
};

export type Settings = OptionValues<typeof SETTINGS>;
