/** Real transcripts for measurements, if the corpus is available. They belong to others and are not in the repository. */
import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(
  process.env.HANSARD_CORPUS ?? join(import.meta.dirname, '../../shared/fixtures'),
  'claude-transcripts',
);
const files = ['growing-2.jsonl', 'small-13-types.jsonl', 'with-subagents/session.jsonl'];

export const isCorpusThere = existsSync(folder);

/** Writes the transcripts of the corpus again and again, each time under ids of their own, and gives the size. */
export function writeCorpusTranscript(path: string, bytes: number): number {
  const texts = files.map((name) => readFileSync(join(folder, name), 'utf8'));
  const file = openSync(path, 'w');
  let written = 0;
  for (let copy = 0; written < bytes; copy += 1) {
    for (const text of texts) written += writeSync(file, underOwnIds(text, copy));
  }
  closeSync(file);
  return written;
}

const ids =
  /"((?:uuid|parentUuid|logicalParentUuid|messageId|leafUuid|sourceToolAssistantUUID)": ?"|toolu_|msg_|req_)[0-9A-Za-z]{6}/g;

function underOwnIds(text: string, copy: number): string {
  const mark = copy.toString(16).padStart(6, '0');
  return `${text.replace(ids, (_, before) => `"${before}${mark}`).trimEnd()}\n`;
}
