import { describe, expect, test } from 'vitest';
import { backgroundRequestIn, backgroundTag, isBackgroundTag } from './background.ts';
import { acceptedOptions } from './options.ts';
import { SETTINGS, type Settings } from './settings.ts';

const settings: Settings = { ...acceptedOptions(SETTINGS, {}), durability: 'relaxed' };

describe('the tag of a Background Sync', () => {
  test('tells the database and how it is opened', () => {
    const request = { name: 'field notes #1', settings };
    const tag = backgroundTag(request);
    expect(isBackgroundTag(tag)).toBe(true);
    expect(backgroundRequestIn(tag)).toEqual(request);
  });

  test.each([
    'sync',
    'burrow-sync',
    'burrow-sync x',
    'burrow-sync null',
    'burrow-sync {"name":""}',
  ])('of others is left alone: %s', (tag) => expect(backgroundRequestIn(tag)).toBeUndefined());

  test('of another build has the defaults of this one where it says nothing that is accepted', () => {
    const given = { durability: 'none', log: { retentionDays: 7, maxBytes: -1 }, later: true };
    const tag = `burrow-sync ${JSON.stringify({ name: 'notes', settings: given })}`;
    const defaults = acceptedOptions(SETTINGS, undefined);
    expect(backgroundRequestIn(tag)).toEqual({
      name: 'notes',
      settings: { ...defaults, log: { ...defaults.log, retentionDays: 7 } },
    });
  });
});
