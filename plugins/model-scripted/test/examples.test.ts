import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonValue } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { readScenario } from '../src/index.ts';

const examples = fileURLToPath(new URL('../../../examples', import.meta.url));
const files = readdirSync(join(examples, 'scenarios')).sort();

it('has a scenario for each use case of the session log, and the café, all in its README', () => {
  expect(files).toEqual([
    'cafe.yaml',
    'characters.yaml',
    'debate.yaml',
    'event-driven.yaml',
    'long-term-memory.yaml',
    'resource-hook.yaml',
    'socratic-teaching.yaml',
    'steel-man.yaml',
    'strategy-and-tactics.yaml',
  ]);
  const listed = readFileSync(join(examples, 'README.md'), 'utf8').matchAll(/\(scenarios\/([^)]+)\)/g);
  expect([...listed].map(([, file]) => file).sort()).toEqual(files);
});

describe.each(files)('%s', (file) => {
  it('says something to the root, and answers for exactly the agents that it and its hooks create', async () => {
    const { title, user, agents, hooks } = await readScenario(join(examples, 'scenarios', file));
    expect(title).toBeTruthy();
    expect(user.length).toBeGreaterThan(0);
    const calls = Object.values(agents)
      .flat()
      .flatMap(({ call = [] }) => call);
    // A comma in a plain text of a flow map would be the end of it, and the rest a key.
    for (const { input } of calls) expect(Object.keys(input ?? {}).join(' ')).toMatch(/^([a-z_]+ ?)+$/);
    const created = calls.filter(({ tool }) => tool === 'task').map(({ input }) => nameIn(input));
    const denied = file === 'resource-hook.yaml' ? ['Searcher3'] : [];
    const ofHooks = hooks.flatMap(({ plugin, config }) =>
      plugin.endsWith('hook-agent') ? [config.name] : [],
    );
    expect([...Object.keys(agents), ...denied].sort()).toEqual(['root', ...created, ...ofHooks].sort());
  });
});

function nameIn(input: JsonValue): JsonValue | undefined {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input.name : undefined;
}
