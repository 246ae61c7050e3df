import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentPassages } from './document-passages.ts';
import { proseExceptions } from './exceptions.ts';
import type { Passage } from './passage.ts';
import { type ProsePattern, prosePatterns } from './patterns.ts';
import { sourcePassages } from './source-passages.ts';

export interface ProseHit {
  readonly file: string;
  readonly line: number;
  readonly pattern: string;
  readonly found: string;
  readonly better: string;
}

/** Every place of a passage where a pattern matches. */
export function matchesIn(passage: Passage, { pattern }: ProsePattern): { line: number; found: string }[] {
  const global = new RegExp(pattern.source, `${pattern.flags.replace('g', '')}g`);
  return [...passage.text.matchAll(global)].map(({ index, 0: found }) => ({
    line: passage.lineAt(index),
    found,
  }));
}

/** The prose of one file of the repository. */
export function passagesOf(file: string, text: string): Passage[] {
  return file.endsWith('.md') ? documentPassages(text) : sourcePassages(text, /(?:^|\/)test\//.test(file));
}

/** Every hit in the given files, paths relative to `home`. The patterns themselves hold examples of what they refuse. */
export function findHits(home: string, files: readonly string[]): ProseHit[] {
  return files
    .filter((file) => file !== 'scripts/prose/patterns.ts')
    .flatMap((file) => {
      const passages = passagesOf(file, readFileSync(join(home, file), 'utf8'));
      return prosePatterns
        .filter(({ id }) => !proseExceptions.some((entry) => entry.file === file && entry.pattern === id))
        .flatMap((pattern) =>
          passages.flatMap((passage) =>
            matchesIn(passage, pattern).map(({ line, found }) => ({
              file,
              line,
              found,
              pattern: pattern.id,
              better: pattern.better,
            })),
          ),
        );
    });
}
