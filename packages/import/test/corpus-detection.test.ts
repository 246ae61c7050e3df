import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { LogHead } from '@hansard/provider';
import { corpus, isCorpusThere, skipped } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { readHead } from '../src/find/read-source.ts';
import { detectImporter } from '../src/importers/choose-importer.ts';
import { logImporters } from '../src/index.ts';

/** The format of each folder that can be imported, or the product of its files. */
const folders: readonly (readonly [pattern: string, expected: string])[] = [
  ['claude-stream/*.jsonl', 'claude-stream'],
  ['claude-tree/k18/stream.jsonl', 'claude-stream'],
  ['field-reports/c41/*', 'claude-stream'],
  ['claude-transcripts/**/*.jsonl', 'claude-transcript'],
  ['claude-tree/*/p/**/*.jsonl', 'claude-transcript'],
  ['field-reports/c[0-35-9]*/p/**/[!j]*.jsonl', 'claude-transcript'],
  ['session-v1/*.jsonl', 'session-v1'],
  ['session-v2/*.jsonl', 'session-v2'],
  ['games/tossim/*.jsonl', 'game-log'],
  ['games/werewolf-match.json', 'werewolf-match'],
  ['codex/*.jsonl', 'codex'],
  ['agents/codex-*/**/*.jsonl', 'codex'],
  ['gemini/*.json', 'gemini-cli'],
  ['agents/gemini-*/**/*.jsonl', 'gemini-cli'],
  ['agents/opencode-*/*.{json,jsonl}', 'OpenCode'],
  ['agents/opencode-*/*.db', 'opencode'],
  ['opencode-go/*.db', 'opencode-go'],
  ['agents/pi-*/**/*.jsonl', 'pi'],
  ['pi/*.jsonl', 'pi'],
  ['agents/qwen-*/projects/**/*.jsonl', 'qwen-code'],
  ['agents/qwen-*/*.jsonl', 'Qwen Code'],
  ['agents/copilot-*/**/*.jsonl', 'copilot-cli'],
  ['atif/**/*.json', 'atif'],
  ['smallchat/*.jsonl', 'smallchat'],
];
const files = folders.flatMap(([pattern, expected]) =>
  globSync(pattern, { cwd: corpus })
    .sort()
    .map((file) => [file, expected] as const),
);
const formats: readonly string[] = logImporters.map(({ id }) => id);

/** What the start of a file is taken for: a format, a product, or nothing. */
function takenFor(head: LogHead): string | null {
  try {
    return detectImporter(logImporters, head).id;
  } catch (error) {
    const { details } = error as { details: { product?: string } };
    return details.product ?? null;
  }
}

function textOf(file: string): string {
  const bytes = readFileSync(join(corpus, file));
  return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}

describe.skipIf(!isCorpusThere)(`the start of a file${skipped}`, () => {
  it('shows the format or the product of each file of the corpus, and no other', () => {
    expect(files.length).toBeGreaterThan(110);
    const found = files.map(([file]) => [file, takenFor(readHead(join(corpus, file)))]);
    expect(found).toEqual(files.map(([file, expected]) => [file, expected]));
  });

  it('shows its own format on every prefix of at least five records, or none, and never another', () => {
    for (const [file, expected] of files) {
      if (!/\.jsonl(\.gz)?$/.test(file)) continue;
      const all = textOf(file).slice(0, 400_000).split('\n');
      const step = Math.ceil(all.length / 60);
      for (let count = 5; count < all.length; count += count < 30 ? 1 : step) {
        const text = `${all.slice(0, count).join('\n')}\n`;
        const found = takenFor({ path: file, text, isCut: false });
        expect([file, count, [null, expected].includes(found)]).toEqual([file, count, true]);
        if (!formats.includes(expected)) expect(formats).not.toContain(found);
      }
    }
  });

  it('never shows a format of ours for records of another product, from any record on', () => {
    for (const [file, expected] of files) {
      if (formats.includes(expected) || !file.endsWith('.jsonl')) continue;
      const all = textOf(file).slice(0, 400_000).split('\n');
      const step = Math.ceil(all.length / 40);
      for (let from = 0; from + 5 <= all.length; from += step) {
        const text = `${all.slice(from, from + 20).join('\n')}\n`;
        const found = takenFor({ path: file, text, isCut: false });
        expect([file, from, formats.includes(found ?? '')]).toEqual([file, from, false]);
      }
    }
  });
});
