/** The route of live queries, as a hub in Node has it. */
import { hash as hashOnce, createHash } from 'node:crypto';
import { HUB_LIMITS } from '../../src/limits.ts';
import { LoopTurns } from '../event-loop/loop-turns.ts';
import type { HubRoute } from '../http/route.ts';
import { pause } from '../instance/hub-engine.ts';
import type { OpenedHub } from '../instance/open-hub.ts';
import type { HubSettings } from '../settings/settings.ts';
import { LIVE_PREFIX, LiveQueries } from './live-queries.ts';
import type { TagOf } from './live-stream.ts';

export function createLiveRoute(
  { http, onCommit }: Pick<OpenedHub, 'http' | 'onCommit'>,
  settings: HubSettings,
): HubRoute {
  const turns = new LoopTurns();
  const turnOf = (name: string) => turns.enter(name);
  const live = new LiveQueries({ http, onCommit, settings, pause, turnOf, tagOf });
  return {
    prefix: LIVE_PREFIX,
    bodyBytes: () => HUB_LIMITS.messageBytes,
    handle: (request, caller) => live.open(request, caller),
    liveQueries: () => live.count,
  };
}

/** So many parts are hashed in one turn. */
const HASHED_PARTS = 4;

const tagOf: TagOf = async (status, parts) => {
  const [only = ''] = parts;
  if (typeof only === 'string' && parts.length <= 1)
    return hashOnce('sha256', `${status} ${only}`, 'base64url');
  const hash = createHash('sha256').update(`${status} `);
  for (const [at, part] of parts.entries()) {
    if (at > 0 && at % HASHED_PARTS === 0) await pause();
    hash.update(part);
  }
  return hash.digest('base64url');
};
