import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLine, demoStream } from './command-line.ts';
import { writeScenario } from './market-scenario.ts';
import { danglingCalls, envelopesOf, eventsOf } from './read-back.ts';

describe('chat, given something wrong,', () => {
  it('names the agent and the turn for which the scenario has no answer; with the answer added, the session can be resumed', async () => {
    using line = commandLine();
    const agents = {
      root: [{ call: [{ tool: 'task', input: { name: 'Ann', system_prompt: 'You are Ann.' } }] }],
    };
    writeScenario(line.cwd, 'gap.yaml', { user: ['Is Ann there?'], agents });
    const failed = await line.hansard('chat', 'gap.yaml', '--quiet');
    expect(failed.code).toBe(1);
    expect(failed.err).toMatch(/No answer for root, turn 2, in .*gap\.yaml.*Add a turn under agents\.root/);
    expect(failed.err).not.toMatch(/\n\s+at /);
    const before = await eventsOf(line, 'chat/gap');
    expect(before.slice(-2)).toMatchObject([
      { type: 'harness:error', data: { code: 'SESSION_MODEL_FAILED' } },
      { type: 'session:complete', data: { status: 'failed' } },
    ]);
    expect(danglingCalls(before)).toEqual([]);

    writeScenario(line.cwd, 'gap.yaml', {
      user: ['Is Ann there?'],
      agents: { root: [...agents.root, { say: 'She is there now.' }] },
    });
    const resumed = await line.hansard('chat', '--resume', 'chat/gap', '--json');
    expect(resumed.code).toBe(0);
    expect(resumed.json()).toMatchObject([{ text: 'She is there now.' }]);
    const after = await eventsOf(line, 'chat/gap');
    expect(after.filter(({ type }) => type === 'agent:created')).toHaveLength(2);
    expect(after.filter(({ type }) => type === 'user:message')).toHaveLength(1);
  });

  it('leaves no envelope that says running when its model has failed', async () => {
    using line = commandLine();
    const agents = { root: [{ error: 'The model is on strike.' }] };
    await line.hansard('chat', writeScenario(line.cwd, 'strike.yaml', { user: ['a'], agents }), '--quiet');
    const [envelope] = await envelopesOf(line, 'chat/strike');
    expect(envelope?.status).not.toBe('running');
  });

  it('reports the error of a failed model; the log keeps earlier messages, and the session can be resumed', async () => {
    using line = commandLine();
    const user = ['Good morning.', 'And now?'];
    const good = { when: { contains: 'morning' }, say: 'Good morning to you.' };
    const scenario = (second: { say: string } | { error: string }) =>
      writeScenario(line.cwd, 'strike.yaml', { user, agents: { root: [good, second] } });
    const failed = await line.hansard('chat', scenario({ error: 'The model is on strike.' }), '--quiet');
    expect(failed).toMatchObject({ code: 1, err: expect.stringContaining('The model is on strike.') });
    expect((await line.hansard('dialog', 'chat/strike')).out).toContain('Good morning to you.');
    expect((await line.hansard('show', 'chat/strike')).out).toContain('The model is on strike.');

    scenario({ say: 'Back at work.' });
    expect(await line.hansard('chat', '--resume', 'chat/strike', '--quiet')).toMatchObject({ code: 0 });
    const { out } = await line.hansard('dialog', 'chat/strike');
    expect(out).toMatch(/Good morning to you\.[\s\S]*Back at work\./);
  });

  it('ends a session whose model never answers, after the limit of the configuration', async () => {
    using line = commandLine();
    writeFileSync(join(line.cwd, 'hansard.config.json'), '{ "limits": { "stallMs": 20 } }');
    writeScenario(line.cwd, 'mute.yaml', { user: ['a'], agents: { root: [{ say: 'b', delayMs: 600_000 }] } });
    const answer = await line.hansard('chat', 'mute.yaml', '--quiet');
    expect(answer).toMatchObject({ code: 1, err: expect.stringContaining('SESSION_AGENT_STOPPED') });
    expect((await line.hansard('ls', 'chat/mute', '--json')).json()).toMatchObject([{ status: 'crashed' }]);
  });

  it.each([
    [
      'a scenario that is no YAML',
      'user: [Hello\nagents: {',
      2,
      /SCENARIO_INVALID.*bad\.yaml[\s\S]*bad\.yaml:\d+: /,
    ],
    ['an answer that is none', 'user: [a]\nagents: { root: [{ sya: b }] }', 2, /bad\.yaml:2: .*sya/],
    [
      'a hook that is not installed',
      'user: [a]\nhooks: [{ plugin: "@nobody/hook" }]\nagents: { root: [{ say: b }] }',
      2,
      /PLUGIN_NOT_FOUND.*@nobody\/hook/,
    ],
    [
      'a hook with a limit that it does not know',
      'user: [a]\nhooks: [{ plugin: "@hansard/hook-limits", config: { maxAgent: 2 } }]\nagents: { root: [{ say: b }] }',
      2,
      /PLUGIN_CONFIG_INVALID.*hook-limits.*maxAgent/,
    ],
  ])('says so and records nothing: %s', async (_what, text, code, message) => {
    using line = commandLine();
    writeFileSync(join(line.cwd, 'bad.yaml'), text);
    const answer = await line.hansard('chat', 'bad.yaml');
    expect(answer.err).toMatch(message);
    expect(answer).toMatchObject({ code, out: '' });
    expect((await line.hansard('ls', '--json')).json()).toEqual([]);
  });

  it('refuses a hook that is none, for without it the scenario is not what it says', async () => {
    using line = commandLine();
    const hooks = [{ plugin: '@hansard/store-memory' }];
    writeScenario(line.cwd, 'bad.yaml', { user: ['a'], hooks, agents: { root: [{ say: 'b' }] } });
    const answer = await line.hansard('chat', 'bad.yaml', '--quiet');
    expect(answer).toMatchObject({ code: 2, err: expect.stringContaining('store-memory') });
  });

  it.each([
    ['no scenario that exists', ['chat', 'nowhere.yaml'], 1, /SCENARIO_UNREADABLE.*nowhere\.yaml/],
    ['neither scenario nor model', ['chat'], 2, /scenario file, a --model, or a session/],
    ['both', ['chat', 'a.yaml', '--model', 'b'], 2, /scenario and a --model can not/],
    [
      'a new task to resume in',
      ['chat', '--resume', 'a/b', '--task', 'c/d'],
      2,
      /--task is for a new session/,
    ],
    ['a model that is not loaded', ['chat', '--model', 'nobody'], 2, /no language model "nobody"/],
    ['nothing to resume', ['chat', '--resume', 'chat/nothing'], 1, /no session or task "chat\/nothing"/],
  ])('says so and what to do: %s', async (_what, args, code, message) => {
    using line = commandLine();
    const answer = await line.hansard(...args);
    expect(answer.err).toMatch(message);
    expect(answer.code).toBe(code);
  });
});

describe('resume, given something wrong,', () => {
  it('reports that a narrative dispatch can not be resumed, and does not change it', async () => {
    using line = commandLine();
    await line.hansard('run', demoStream('hook-deny'), '--task', 'a/b', '--quiet');
    const before = await envelopesOf(line, 'a/b');
    writeScenario(line.cwd, 'talk.yaml', { user: ['a'], agents: { root: [{ say: 'b' }] } });
    const answer = await line.hansard('chat', 'talk.yaml', '--resume', 'a/b', '--quiet');
    expect(answer).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/SESSION_NOT_FULL.*narrative/),
    });
    expect(await envelopesOf(line, 'a/b')).toEqual(before);
  });

  it('names a missing scenario, and resumes with another one', async () => {
    using line = commandLine();
    const agents = { root: [{ error: 'The model is on strike.' }] };
    await line.hansard('chat', writeScenario(line.cwd, 'strike.yaml', { user: ['a'], agents }), '--quiet');
    rmSync(join(line.cwd, 'strike.yaml'));
    const answer = await line.hansard('chat', '--resume', 'chat/strike', '--quiet');
    expect(answer).toMatchObject({
      code: 1,
      err: expect.stringMatching(/SCENARIO_UNREADABLE.*strike\.yaml/),
    });
    writeScenario(line.cwd, 'other.yaml', { user: ['a'], agents: { root: [{ say: 'b' }] } });
    const resumed = await line.hansard('chat', 'other.yaml', '--resume', 'chat/strike', '--json');
    expect(resumed.json()).toMatchObject([{ text: 'b' }]);
  });

  it('refuses a scenario and a model together, as chat does', async () => {
    using line = commandLine();
    const agents = { root: [{ say: 'b' }] };
    const scenario = writeScenario(line.cwd, 'talk.yaml', { user: ['a'], agents });
    await line.hansard('chat', scenario, '--quiet');
    const answer = await line.hansard(
      'chat',
      scenario,
      '--resume',
      'chat/talk',
      '--model',
      'nobody',
      '--quiet',
    );
    expect(answer.code).toBe(2);
  });
});
