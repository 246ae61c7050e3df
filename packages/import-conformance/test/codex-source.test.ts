import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { corpus, isCorpusThere, skipped } from '@hansard/testing';
import { expect, it } from 'vitest';
import { createChoices } from '../src/random.ts';
import { codexThread } from './codex-source.ts';

/** The kinds and fields of a record of Codex, as KIND and KIND.FIELD. */
function fieldsOf(line: string): string[] {
  const { type, payload } = JSON.parse(line);
  const kind = [type, payload.type, payload.item?.type].filter((part) => part !== undefined).join('/');
  const names = [...Object.keys(payload), ...Object.keys(payload.item ?? {}).map((name) => `item.${name}`)];
  return [kind, ...names.map((name) => `${kind}.${name}`)];
}

it.skipIf(!isCorpusThere)(`random threads of Codex have every kind and field of real ones${skipped}`, () => {
  const written = new Set<string>();
  for (let seed = 1; seed <= 600; seed += 1)
    for (const { text } of codexThread(createChoices(seed)))
      for (const name of fieldsOf(text)) written.add(name);
  const real = globSync(['codex/*.jsonl', 'agents/codex-*/**/*.jsonl'], { cwd: corpus }).flatMap((file) =>
    readFileSync(join(corpus, file), 'utf8').trim().split('\n').flatMap(fieldsOf),
  );
  expect([...new Set(real)].filter((name) => !written.has(name)).sort()).toEqual([]);
});
