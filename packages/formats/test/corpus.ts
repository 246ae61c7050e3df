import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the corpus, if it exists. */
export const corpus = process.env.HANSARD_CORPUS ?? join(import.meta.dirname, '../../../../shared/fixtures');

/** The specifications' examples belong to others and are not part of the repository. */
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
