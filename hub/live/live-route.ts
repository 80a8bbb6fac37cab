/** The route of live queries for a hub in Node. */
import { createHash } from 'node:crypto';
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
    bodyValues: () => HUB_LIMITS.messageValues,
    handle: (request, caller) => live.open(request, caller),
    liveQueries: () => live.count,
  };
}

const tagOf: TagOf = async (status, parts) => {
  const hash = createHash('sha256').update(`${status} `);
  for (const part of parts) {
    hash.update(part);
    // A long answer is hashed one part per turn of the event loop.
    if (parts.length > 1) await pause();
  }
  return hash.digest('base64url');
};
