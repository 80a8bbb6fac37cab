/**
 * The settings that a database is opened with. An option whose value the worker reads needs only a row here: `openDatabase` accepts and
 * checks it, the worker gets it in `OpenOptions`, and docs/options.md lists it. Options that only the page reads are in
 * src/client/options.ts.
 */
import { LIMITS } from '../limits.ts';
import { flag, integer, oneOf, option, optional, text, type OptionValues } from './options.ts';

export const SETTINGS = {
  /** `strict`: a write that has resolved survives a power failure. `relaxed`: it survives a killed browser. */
  durability: option(oneOf('strict', 'relaxed'), 'strict'),
  /**
   * How data is stored: packed in blocks, with a log, or as one row of IndexedDB for each document. A database stored as rows is moved into
   * blocks when it is opened as `packed`; a packed one stays packed. `rows` is for apps that may have to go back to a build that knows only
   * rows.
   */
  store: option(oneOf('packed', 'rows'), 'packed'),
  /** The query log, off by default. */
  log: {
    /** Whether queries are recorded in the query log. */
    enabled: option(flag, false),
    /** How long query records are kept, in days. */
    retentionDays: option(integer(1, 3650), 30),
    /** How many bytes of query records are kept; the oldest records are removed first. */
    maxBytes: option(integer(0), 64 * 1024 * 1024),
  },
  /** bcrypt cost of new password hashes. */
  hashCost: option(integer(LIMITS.hashCostNewMin, LIMITS.hashCostMax), LIMITS.hashCostDefault),
  /** Who may read the document of a token: the token itself, or only callers whom a role allows to. */
  ownDocument: option(oneOf('readable', 'by role'), 'readable'),
  /**
   * The audience that tokens of identity providers (JWT) must name. With it, the database itself can have access providers, not only its
   * child databases.
   */
  audience: optional(text),
};

export type Settings = OptionValues<typeof SETTINGS>;
