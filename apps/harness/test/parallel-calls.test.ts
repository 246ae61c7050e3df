import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';
import { writeScenario } from './market-scenario.ts';
import { eventsOf } from './read-back.ts';

/** A tool whose result is the number of its calls that run, which stay for some turns of the event loop. */
const counter = `
let running = 0;
export default {
  id: 'counter', provides: 'ToolProvider',
  create: () => ({
    contract: 1,
    listTools: () => [{ name: 'count', description: 'counts', inputSchema: { type: 'object' } }],
    async callTool() {
      running += 1;
      const text = String(running);
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      running -= 1;
      return { status: 'completed', text };
    },
  }),
};`;

function project(config: object): CommandLine {
  const line = commandLine();
  mkdirSync(join(line.cwd, 'counter'));
  const manifest = { id: 'counter', provides: 'ToolProvider', entry: './index.mjs', apiVersion: 1 };
  writeFileSync(join(line.cwd, 'counter/plugin.json'), JSON.stringify(manifest));
  writeFileSync(join(line.cwd, 'counter/index.mjs'), counter);
  writeFileSync(
    join(line.cwd, 'hansard.config.json'),
    JSON.stringify({ communication: [], plugins: ['./counter'], ...config }),
  );
  return line;
}

const counting = { call: [{ tool: 'count' }, { tool: 'count' }, { tool: 'count' }] };

async function counted(line: CommandLine): Promise<unknown[]> {
  return (await eventsOf(line, 'chat/tale')).flatMap(({ type, data }) =>
    type === 'agent:tool_result' ? [(data as { output: string }).output] : [],
  );
}

describe('parallelToolCalls', () => {
  it.each<[string, object, readonly string[], readonly string[]]>([
    ['one after the other where nothing says otherwise', {}, [], ['1', '1', '1']],
    ['so many at the same time as the configuration says', { parallelToolCalls: 2 }, [], ['1', '2', '2']],
    ['so many as --parallel says', { parallelToolCalls: 2 }, ['--parallel', '3'], ['1', '2', '3']],
  ])('makes the calls of one answer %s, in chat and after resume', async (_what, config, more, expected) => {
    using line = project(config);
    const turns = [counting, { say: 'Counted.' }];
    writeScenario(line.cwd, 'tale.yaml', { user: ['Count.'], agents: { root: turns } });
    expect(await line.hansard('chat', 'tale.yaml', '--quiet', ...more)).toMatchObject({ code: 0 });
    writeScenario(line.cwd, 'tale.yaml', {
      user: ['Count.', 'Again.'],
      agents: { root: [...turns, ...turns] },
    });
    expect(await line.hansard('chat', '--resume', 'chat/tale', '--quiet', ...more)).toMatchObject({
      code: 0,
    });
    expect(await counted(line)).toEqual([...expected, ...expected]);
  });

  it('must be a whole number from 1', async () => {
    using wrong = project({ parallelToolCalls: 0 });
    writeScenario(wrong.cwd, 'tale.yaml', { user: ['Hi.'], agents: { root: [{ say: 'Hello.' }] } });
    expect(await wrong.hansard('chat', 'tale.yaml')).toMatchObject({
      code: 2,
      err: expect.stringContaining('parallelToolCalls is 0'),
    });
    using line = project({});
    expect(await line.hansard('chat', 'tale.yaml', '--parallel', '0')).toMatchObject({ code: 2 });
  });
});
