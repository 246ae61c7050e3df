import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the examples of the specifications, which may be absent. */
export const corpus = process.env.HANSARD_CORPUS ?? join(import.meta.dirname, '../../../../shared/fixtures');

/** The examples are data of others and not a part of the repository. */
export const isCorpusThere = existsSync(join(corpus, 'session-v2'));
export const skipped = isCorpusThere ? '' : ' (skipped: no corpus; HANSARD_CORPUS names its folder)';

/** The numbers of the examples of a format. */
export function exampleNumbers(format: string): string[] {
  return globSync('*.jsonl', { cwd: join(corpus, format) })
    .map((file) => file.split('-')[0] ?? file)
    .sort();
}

export function exampleText(format: string, number: string): string {
  const [file = ''] = globSync(`${number}-*.jsonl`, { cwd: join(corpus, format) });
  return readFileSync(join(corpus, format, file), 'utf8');
}

/** A recorded game of the corpus. */
export function gameText(file: string): string {
  return readFileSync(join(corpus, 'games', file), 'utf8');
}

/** Recorded streams of Claude Code that are part of the repository. */
export const claudeStreamFixtures = join(import.meta.dirname, '../../claude/test/fixtures/claude-stream');
