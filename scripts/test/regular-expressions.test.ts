import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expressionsIn, slowText } from '../regular-expressions.ts';
import { root } from '../workspace.ts';

/** Expressions that take more than linear time, and why no text can use it. */
const bounded: Readonly<Record<string, string>> = {
  'packages/import/src/importers/task-of-log.ts /^[._-]+|[._-]+$/g': 'the text is cut to 80 characters first',
  'plugins/agent-claude/src/session-store/session-events.ts /^[_0-9]+|_+$/g':
    'the text has no two underscores in a row',
  'plugins/agent-claude/src/session-store/transcript-place.ts /^-+|-+$/g':
    'the text is cut to 60 characters first',
};

const files = globSync('{packages,plugins,apps}/*/src/**/*.ts', { cwd: root });
const found = files.flatMap((file) => expressionsIn(file, readFileSync(join(root, file), 'utf8')));

describe('a regular expression of the sources', () => {
  it('is found wherever it is', () => {
    const text =
      "const a = 1 / 2 / 3; // /no/\nx.replace(/a\\/[/]b/gu, '/no/'); if (/^c$/.test(y)) return /d/; /* /no/ */";
    expect(expressionsIn('x.ts', text).map(({ source, flags }) => [source, flags])).toEqual([
      ['a\\/[/]b', 'gu'],
      ['^c$', ''],
      ['d', ''],
    ]);
    expect(found.length).toBeGreaterThan(80);
  });

  it('takes linear time for every text, or has only short texts', { timeout: 240_000 }, () => {
    const slow = [...new Map(found.map((one) => [`${one.file} /${one.source}/${one.flags}`, one]))]
      .filter(([, one]) => slowText(one) !== null)
      .map(([name]) => name);
    expect(slow.sort()).toEqual(Object.keys(bounded).sort());
  });

  it.each([
    ['=+$', ''],
    ['^[._-]+|[._-]+$', 'g'],
    ['^mcp__(.+?)__(.+)$', ''],
    ['(a+)+$', ''],
    ['^(\\w+\\s?)*$', ''],
    ['^\\s+|\\s+$', 'g'],
    ['(.*),(.*),(.*);$', ''],
    ['"sessionId":"(.*)".*"cwd":"(.*)"$', ''],
  ])('would be found if it were slow: %s', (source, flags) => {
    expect(slowText({ source, flags })).not.toBeNull();
  });
});
