// The order in which vitest runs test files. Without timings of earlier runs it starts with large files, but a long test that tries many
// cases is a small file.
import { BaseSequencer } from 'vitest/node';

const TRIES_MUCH = /(?:simulation|seeds|conformance|property|serializable|stores)[^/]*\.test\.ts$/;

/**
 * Puts long tests first within their project, so that none of them runs alone at the end.
 * @template {{ moduleId: string; project: unknown }} File
 * @param {readonly File[]} files grouped by project @returns {File[]}
 */
export function longFirst(files) {
  const isLong = (/** @type {File} */ { moduleId }) => TRIES_MUCH.test(moduleId);
  const projects = [...new Set(files.map(({ project }) => project))];
  return projects.flatMap((project) => {
    const own = files.filter((file) => file.project === project);
    return [...own.filter(isLong), ...own.filter((file) => !isLong(file))];
  });
}

export class LongFirst extends BaseSequencer {
  /** @param {Parameters<BaseSequencer['sort']>[0]} files */
  async sort(files) {
    return longFirst(await super.sort(files));
  }
}
