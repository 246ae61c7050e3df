import { describe, expect, it } from 'vitest';
import { didYouMean } from '../src/index.ts';

const keys = [
  'store',
  'communication',
  'plugins',
  'pluginFolders',
  'deny',
  'limits',
  'context',
  'timeMs',
  'stallMs',
];

describe('a mistyped name', () => {
  it.each([
    ['stor', 'store'],
    ['sotre', 'store'],
    ['Store', 'store'],
    ['comunication', 'communication'],
    ['plugin', 'plugins'],
    ['plugin_folders', 'pluginFolders'],
    ['denny', 'deny'],
    ['limit', 'limits'],
    ['timeoutMs', 'timeMs'],
  ])('%s means %s', (typed, meant) => {
    expect(didYouMean(typed, keys)).toBe(meant);
  });

  it.each(['', 'x', 'toString', 'colour', 'st'])('%j is not close to any of them', (typed) => {
    expect(didYouMean(typed, keys)).toBeUndefined();
  });

  it('means the closest of several, and the first of equally close ones', () => {
    expect(didYouMean('lists', ['limits', 'list', 'lasts'])).toBe('list');
    expect(didYouMean('cat', ['bat', 'car'])).toBe('bat');
  });
});
