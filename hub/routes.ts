/** What is served beside the engine's own surface. */
import type { MakeRoute } from './serve.ts';

export const hubRoutes: readonly MakeRoute[] = [];
