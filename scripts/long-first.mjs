// In which order vitest runs test files. It takes large ones first when it knows no better; but what tries many cases is a small file.
import { BaseSequencer } from 'vitest/node';

const TRIES_MUCH = /(?:simulation|seeds|conformance|property|serializable|stores)[^/]*\.test\.ts$/;

/**
 * Those that run long are not begun last, when no other is left to run beside them.
 * @template {{ moduleId: string; project: unknown }} File
 * @param {readonly File[]} files those of a project beside each other @returns {File[]}
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
