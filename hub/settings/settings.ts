/** The settings of a hub as its other rooms see them: the values of the table, and limits that no flag sets. */
import { HUB_LIMITS } from '../../src/limits.ts';
import { settingValues, type SettingValues } from './settings-table.ts';

export type HubSettings = SettingValues & { readonly [name in keyof typeof HUB_LIMITS]: number };

export const DEFAULT_SETTINGS: HubSettings = {
  ...HUB_LIMITS,
  ...settingValues(({ defaultValue }) => defaultValue),
};

/** Whether a hub that listens on `host` can be reached from its own machine only. */
export const isLoopback = (host: string): boolean =>
  host === '::1' || host === 'localhost' || host.startsWith('127.');
