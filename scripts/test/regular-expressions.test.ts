import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { secretFormats } from '../../packages/redaction/src/search/secret-formats.ts';
import { expressionsIn, slowText } from '../regular-expressions.ts';
import { root } from '../workspace.ts';

/** Expressions that take more than linear time, and why no text can use it. */
const bounded: Readonly<Record<string, string>> = {
  'packages/import/src/importers/task-names.ts /^[._-]+|[._-]+$/g': 'the text is cut to 80 characters first',
  'plugins/agent-claude/src/session-store/session-events.ts /^[_0-9]+|_+$/g':
    'the text has no two underscores in a row',
  'plugins/agent-claude/src/session-store/transcript-place.ts /^-+|-+$/g':
    'the text is cut to 60 characters first',
};

/** Files that build expressions of texts, and why no text makes one slow. */
const built: Readonly<Record<string, string>> = {
  'packages/datasets/src/judging/pseudonyms.ts': 'of letters only',
  'packages/events/src/fidelity/narrative.ts': 'of names in the source, joined by |',
  'packages/events/src/plain/check-shape.ts': 'of schemas in the source',
  'packages/pages/src/task-markdown.ts': 'of characters in the source',
  'packages/plugin-loader/src/plugin-manifest.ts': 'each part of a path ends at a /',
  'packages/provider/src/store/search-text.ts':
    'of letters and digits with one character on each side, or of runs of letters of one script each',
  'packages/redaction/src/search/format-rules.ts': 'tested here',
  'packages/events/src/neutralise-controls.ts': 'of expressions for one character',
  'plugins/hook-redact/src/index.ts': 'of a user; ended after a second',
  'plugins/model-scripted/src/open-scripted-model.ts': "of the user's own scenario",
  'plugins/model-scripted/src/scenario.ts': "of the user's own scenario; only parsed",
  'plugins/store-jsonfile/src/search-events.ts': 'of letters and digits only',
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
    const slow = Object.values(Object.groupBy(found, ({ source, flags }) => `/${source}/${flags}`))
      .flatMap((same = []) => (same[0] === undefined || slowText(same[0]) === null ? [] : same))
      .map(({ file, source, flags }) => `${file} /${source}/${flags}`);
    expect([...new Set(slow)].sort()).toEqual(Object.keys(bounded).sort());
  });

  it('is a literal, or built in a file that is listed', () => {
    const building = files.filter((file) => readFileSync(join(root, file), 'utf8').includes('new RegExp('));
    expect(building.sort()).toEqual(Object.keys(built).sort());
  });

  it('takes linear time for every text in the formats of secrets', { timeout: 120_000 }, () => {
    // Formats of one shape differ in their prefix, their alphabet and their lengths only.
    const shapeOf = (source: string) => source.replace(/\[[^\]]*\]/g, '[]').replace(/[A-Za-z0-9_]+/g, 'a');
    const formats = new Map(secretFormats.map((one) => [shapeOf(one.expression.source), one]));
    const expressions = [...formats.values()].map(({ expression }) => expression);
    expect(expressions.length).toBeGreaterThan(30);
    expect(expressions.filter((one) => slowText(one) !== null)).toEqual([]);
  });

  it.each([
    ['=+$', ''],
    ['^[._-]+|[._-]+$', 'g'],
    ['^mcp__(.+?)__(.+)$', ''],
    ['(a+)+$', ''],
    ['(?:a?){30}a{30}$', ''],
    ['^(\\w+\\s?)*$', ''],
    ['^\\s+|\\s+$', 'g'],
    ['(.*),(.*),(.*);$', ''],
    ['"sessionId":"(.*)".*"cwd":"(.*)"$', ''],
  ])('would be found if it were slow: %s', (source, flags) => {
    expect(slowText({ source, flags })).not.toBeNull();
  });
});
