import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DispatchEnvelope } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine, demoStream } from './command-line.ts';

function plugin(line: CommandLine, id: string, provides: string, create: string): void {
  const folder = join(line.cwd, id);
  mkdirSync(folder);
  const manifest = { id, provides, entry: './index.mjs', apiVersion: 1 };
  writeFileSync(join(folder, 'plugin.json'), JSON.stringify(manifest));
  writeFileSync(
    join(folder, 'index.mjs'),
    `export default { id: '${id}', provides: '${provides}', create: () => ({ contract: 1, ...${create} }) };`,
  );
}

/** A lead that calls a tool which starts a worker, and a worker that says what it was given. */
function project(): CommandLine {
  const line = commandLine();
  plugin(
    line,
    'lead',
    'AgentProvider',
    `{
      async *run(request) {
        const { role, prompt, tools, signal, outputSchema, maxTurns, resumeSessionId, cwd, model } = request;
        const event = (type, data) => ({ kind: 'event', event: { type, data } });
        yield event('session:init', { model: 'm', sessionId: 'session of ' + role, cwd: '/work/of-' + role });
        const given = { prompt, outputSchema, maxTurns, resumeSessionId, cwd, model };
        yield event('agent:text', { text: JSON.stringify(given) });
        const hire = tools.find(({ definition }) => definition.name === 'hire');
        const texts = [];
        if (prompt === 'Hire.')
          for (const agent of ['helper', 'lead'])
            texts.push((await hire.call({ toolCallId: 'c', input: { agent }, signal })).text);
        yield event('session:complete', { status: 'completed', structuredResult: texts });
      },
    }`,
  );
  plugin(
    line,
    'helper',
    'AgentProvider',
    `{
      async *run({ prompt, maxTurns, model }) {
        yield { kind: 'event', event: { type: 'agent:text', data: { text: [prompt, maxTurns, model].join() } } };
      },
    }`,
  );
  plugin(
    line,
    'hiring',
    'ToolProvider',
    `{
      listTools: () => [{ name: 'hire', description: 'hires', inputSchema: { type: 'object' } }],
      async callTool({ dispatches, input }) {
        const { dispatchId } = await dispatches.startWorker({ role: 'worker', prompt: 'Work.', ...input });
        const { role, status, model } = await dispatches.awaitWorker(dispatchId);
        return { status: 'completed', text: [dispatches.listAgents(), role, status, model].join(' ') };
      },
    }`,
  );
  plugin(
    line,
    'guard',
    'HookProvider',
    `{
      name: 'guard',
      decide: ({ input }) =>
        input.agent === 'helper' ? { decision: 'allow' } : { decision: 'alter', input: { agent: 'lead' } },
    }`,
  );
  writeFileSync(
    join(line.cwd, 'hansard.config.json'),
    JSON.stringify({ communication: [], plugins: ['./lead', './helper', './hiring', './guard'] }),
  );
  return line;
}

const run = ['run', '--agent', 'lead', '--task', 'a/b', '--json'];

async function textOf(line: CommandLine, dispatchId: string): Promise<Record<string, unknown>> {
  const events = await line.hansard('show', `a/b/${dispatchId}`, '--raw', '--type', 'agent:text', '--json');
  return JSON.parse((events.json()[0] as { data: { text: string } }).data.text);
}

describe('run --agent', () => {
  it('gives the agent the tools and hooks of the configuration, and its agents as workers', async () => {
    using line = project();
    const answer = await line.hansard(...run, 'Hire.', '--model', 'big', '--turns', '3');
    expect(answer).toMatchObject({ code: 0, err: '' });
    const [lead] = answer.json() as [{ dispatchId: string; structuredResult: unknown }];
    expect(lead).toMatchObject({
      structuredResult: ['lead,helper worker completed ', 'lead,helper worker completed big'],
    });
    expect(await textOf(line, lead.dispatchId)).toEqual({
      prompt: 'Hire.',
      maxTurns: 3,
      cwd: null,
      model: 'big',
    });
    expect((await line.hansard('ls', 'a/b', '--json')).json()).toMatchObject([
      { dispatchId: lead.dispatchId, parentDispatchId: null },
      { role: 'worker', parentDispatchId: lead.dispatchId, model: 'big' },
      { role: 'worker', parentDispatchId: lead.dispatchId, model: null },
    ]);
    const hooks = await line.hansard('show', `a/b/${lead.dispatchId}`, '--type', 'harness:hook_decision');
    expect(hooks.out).toContain('guard');
  });

  it('records the dispatch for the bot of the option, or else of the configuration, and gives it to no worker', async () => {
    using line = project();
    const path = join(line.cwd, 'hansard.config.json');
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), bot: 'lucy' }));
    await line.hansard(...run, 'Hire.');
    await line.hansard(...run, 'Begin.', '--bot', 'linus');
    await line.hansard('run', demoStream('hook-deny'), '--task', 'a/b', '--quiet');
    const dispatches = (await line.hansard('ls', 'a/b', '--json')).json() as DispatchEnvelope[];
    expect(dispatches.map(({ role, botId }) => [role, botId]).sort()).toEqual([
      ['agent', 'linus'],
      ['agent', 'lucy'],
      ['agent', 'lucy'],
      ['worker', null],
      ['worker', null],
    ]);
    const { out } = await line.hansard('show', 'a/b', '--raw', '--bot', 'linus');
    expect(out).toContain('Begin.');
    expect(out).not.toContain('Hire.');
  });

  it('requests a result by the schema of a file, and resumes an earlier session', async () => {
    using line = project();
    writeFileSync(join(line.cwd, 'schema.json'), '{ "type": "object" }');
    const [first] = (await line.hansard(...run, 'Begin.', '--role', 'dev')).json() as [
      { dispatchId: string },
    ];
    const again = await line.hansard(...run, 'Go', 'on.', '--resume', 'latest', '--schema', 'schema.json');
    const [second] = again.json() as [{ dispatchId: string }];
    expect(second.dispatchId).not.toBe(first.dispatchId);
    expect(await textOf(line, second.dispatchId)).toMatchObject({
      prompt: 'Go on.',
      resumeSessionId: 'session of dev',
      cwd: '/work/of-dev',
      outputSchema: { type: 'object' },
    });
    const elsewhere = await line.hansard(...run, 'Go on.', '--resume', first.dispatchId, '--cwd', '/else');
    const [third] = elsewhere.json() as [{ dispatchId: string }];
    expect(await textOf(line, third.dispatchId)).toMatchObject({ cwd: '/else' });
  });

  it('begins the prompt with the outcomes of earlier dispatches of the task', async () => {
    using line = project();
    const [first] = (await line.hansard(...run, 'Begin.', '--with-history', '--role', 'dev')).json() as [
      { dispatchId: string },
    ];
    expect(await textOf(line, first.dispatchId)).toMatchObject({ prompt: 'Begin.' });
    const [second] = (await line.hansard(...run, 'Go on.', '--with-history')).json() as [
      { dispatchId: string },
    ];
    const { prompt } = await textOf(line, second.dispatchId);
    expect(prompt).toBe(
      `${(await line.hansard('context', `a/b/${second.dispatchId}`, '--history')).out}\nGo on.`,
    );
    expect(prompt).toContain(`${first.dispatchId}: dev, m, completed`);
    const log = ['show', `a/b/${second.dispatchId}`, '--raw', '--json', '--type'];
    const [given] = (await line.hansard(...log, 'agent:system_prompt')).json();
    expect(given).toMatchObject({ data: { outcomesOf: [first.dispatchId] } });
    const [message] = (await line.hansard(...log, 'user:message')).json();
    expect(message).toMatchObject({ data: { text: 'Go on.', source: { kind: 'user' } } });
  });

  it('begins the prompt with results in text and failures, also of a dispatch whose log is damaged', async () => {
    using line = project();
    await line.hansard('run', 'Work.', '--agent', 'helper', '--task', 'a/b', '--quiet');
    await line.hansard('run', demoStream('subagent'), '--task', 'a/b', '--quiet');
    const recorded = (await line.hansard('ls', 'a/b', '--json')).json() as DispatchEnvelope[];
    const [lost] = (await line.hansard(...run, 'Begin.', '--role', 'lost')).json() as DispatchEnvelope[];
    const file = join(line.cwd, '.projects/a/tasks/b/dispatches', `${lost?.dispatchId}.json`);
    writeFileSync(file, readFileSync(file, 'utf8').replace('"agent:text"', '"agent:te'));
    const [begun] = (await line.hansard(...run, 'Begin.', '--with-history')).json() as DispatchEnvelope[];
    const { prompt } = await textOf(line, begun?.dispatchId ?? '');
    expect(recorded).toHaveLength(2);
    expect(prompt).toContain('\nNo result is stated. Its last text: Work.,,\n');
    expect(prompt).toMatch(/\nThe tester reports 6 bytes/);
    expect(prompt).toContain('\nIts log is damaged: ');
  });

  it.each([
    [
      '--resume of a dispatch without a session',
      ['--resume', 'latest'],
      1,
      /can't be resumed: its log has no session:init/,
    ],
    ['--resume of no dispatch', ['--resume', 'nothing'], 1, /has no session nothing/],
    ['a schema that is not there', ['--schema', 'none.json'], 2, /schema .*none\.json can't be read/],
    ['a schema that is not an object', ['--schema', 'list.json'], 2, /is not a JSON object/],
    ['no turns', ['--turns', '0'], 2, /whole number from 1/],
  ])('says what is wrong with %s, and records nothing', async (_, more, code, message) => {
    using line = project();
    writeFileSync(join(line.cwd, 'list.json'), '[]');
    await line.hansard('run', 'Work.', '--agent', 'helper', '--task', 'a/b', '--quiet');
    const answer = await line.hansard(...run, 'Go', ...more);
    expect(answer.err).toMatch(message);
    expect(answer.code).toBe(code);
    expect((await line.hansard('ls', 'a/b', '--json')).json()).toHaveLength(1);
  });

  it('leaves no task behind if it fails before its dispatch begins', async () => {
    using line = commandLine();
    plugin(line, 'lead', 'AgentProvider', '{ async *run() {} }');
    plugin(
      line,
      'broken',
      'ToolProvider',
      `{ listTools() { throw new Error('no server'); }, callTool: () => null }`,
    );
    const config = { communication: [], plugins: ['./lead', './broken'] };
    writeFileSync(join(line.cwd, 'hansard.config.json'), JSON.stringify(config));
    expect(await line.hansard(...run, 'Begin.')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no server'),
    });
    expect((await line.hansard('ls', '--json')).json()).toEqual([]);
  });

  it.each([['resume', 'latest'], ['with-history'], ['schema', 'none.json'], ['turns', '2']])(
    'is what --%s is for: a recorded stream has none',
    async (option, ...value) => {
      using line = commandLine();
      const stream = ['run', demoStream('hook-deny'), '--task', 'a/b'];
      const { code, err } = await line.hansard(...stream, `--${option}`, ...value);
      expect(err).toMatch(`--${option} applies to a running agent`);
      expect(code).toBe(2);
    },
  );
});
