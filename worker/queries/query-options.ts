/** Checks the options of a query where it arrives, so that an error names the option. */
import { Refusal } from '../../src/errors.ts';
import { integer } from '../../src/host/options.ts';
import type { QueryCall } from '../../src/host/query.ts';
import { HeaderFault, readTags, type RequestOptions } from '../../src/http/request-headers.ts';
import { LIMITS } from '../../src/limits.ts';

const TIMEOUT = integer(1, LIMITS.queryTimeoutMaxMs);

/** @throws Refusal `bad request` */
export function checkTimeout({ timeoutMs }: Pick<QueryCall, 'timeoutMs'>): void {
  if (timeoutMs !== undefined && !TIMEOUT.accepts(timeoutMs))
    throw new Refusal('bad request', `The option \`timeoutMs\` must be ${TIMEOUT.expected}.`);
}

/** Checks the tags as those in the header of a request are checked. @throws Refusal `bad request` */
export function tagsIn({ tags }: Pick<QueryCall, 'tags'>): RequestOptions['tags'] {
  try {
    return readTags(tags);
  } catch (reason) {
    if (!(reason instanceof HeaderFault)) throw reason;
    throw new Refusal('bad request', `The option \`tags\`: ${reason.reason}.`);
  }
}
