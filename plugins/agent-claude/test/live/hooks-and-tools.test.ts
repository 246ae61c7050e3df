import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolCall, ToolProvider } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { toolResultsIn } from '../../../../scripts/engines/scripted-messages-api.ts';
import { ofType } from '../run-agent.ts';
import { hookThat, useLiveAgents } from './live-agent.ts';

const live = useLiveAgents();

const bash = (id: string, command: string) =>
  ({ type: 'tool_use', id, name: 'Bash', input: { command, description: 'x' } }) as const;

describe('hooks of the project on the own tools of the agent', () => {
  it('a denied call is not made, an altered one is made as altered; each decision is in the log once, after its call', async () => {
    const { events, cwd, requests } = await live.run(
      (_, index) =>
        [[bash('toolu_1', 'touch denied.txt')], [bash('toolu_2', 'touch asked.txt')]][index] ?? [
          { type: 'text', text: 'Done.' },
        ],
      {
        hooks: [
          hookThat(({ input, toolCallId }) => {
            if (toolCallId === 'toolu_1') return { decision: 'deny', reason: 'no such file here' };
            return { decision: 'alter', input: { ...Object(input), command: 'touch altered.txt' } };
          }),
        ],
      },
    );
    expect(['denied.txt', 'asked.txt', 'altered.txt'].map((name) => existsSync(join(cwd, name)))).toEqual([
      false,
      false,
      true,
    ]);
    const decisions = ofType(events, 'harness:hook_decision');
    const calls = ofType(events, 'agent:tool_call');
    expect(decisions).toMatchObject([
      { cause: calls[0]?.id, data: { hook: 'guard', decision: 'deny', toolCallId: 'toolu_1' } },
      { cause: calls[1]?.id, data: { hook: 'guard', decision: 'alter', toolCallId: 'toolu_2' } },
    ]);
    expect(
      decisions.map((decision) => events.indexOf(decision) > events.indexOf(calls[0] ?? decision)),
    ).toEqual([true, true]);
    expect(ofType(events, 'agent:tool_result').map(({ data }) => data.status)).toEqual([
      'error',
      'completed',
    ]);
    expect(JSON.stringify(requests[1]?.messages.at(-1))).toContain('no such file here');
  });

  it("what the engine's own permissions deny is a decision, and hooks of its settings are events", async () => {
    const folder = live.newFolder();
    const settings = join(folder, 'work', '.claude');
    mkdirSync(settings, { recursive: true });
    const hook = { hooks: [{ type: 'command', command: 'echo from the settings' }] };
    writeFileSync(join(settings, 'settings.json'), JSON.stringify({ hooks: { SessionStart: [hook] } }));
    const { events, cwd } = await live.run(
      (request) =>
        toolResultsIn(request).size > 0
          ? [{ type: 'text', text: 'Not allowed.' }]
          : [bash('toolu_1', 'touch a.txt')],
      {
        folder,
        fidelity: 'full',
        agentOptions: { permissionMode: 'default', settingSources: ['project'] },
      },
    );
    expect(existsSync(join(cwd, 'a.txt'))).toBe(false);
    expect(ofType(events, 'harness:hook_decision')).toMatchObject([
      { cause: ofType(events, 'agent:tool_call')[0]?.id, data: { decision: 'deny', toolCallId: 'toolu_1' } },
    ]);
    expect(ofType(events, 'system:hook_started')[0]?.data).toMatchObject({ hook_event: 'SessionStart' });
    expect(JSON.stringify(ofType(events, 'system:hook_response')[0]?.data)).toContain('from the settings');
  });
});

describe('tools of the project', () => {
  it('are called side by side, each with the id of its call; hooks are asked once; results say what they were made of', async () => {
    const both = Promise.withResolvers<void>();
    const calls: ToolCall[] = [];
    const asked: string[] = [];
    const tools: ToolProvider = {
      contract: 1,
      listTools: () => [
        {
          name: 'look_up',
          description: 'Looks a word up.',
          inputSchema: {
            type: 'object',
            properties: { word: { type: 'string', minLength: 2 } },
            required: ['word'],
          },
        },
      ],
      async callTool(call) {
        calls.push(call);
        if (calls.length === 2) both.resolve();
        await both.promise;
        const { word } = Object(call.input) as { word: string };
        if (word === 'plum') return { status: 'error', text: 'no such word' };
        return {
          status: 'completed',
          text: `${word} is a fruit`,
          metadata: { word },
          madeFrom: ['01UTTERANCE'],
        };
      },
    };
    const lookUp = (id: string, word: string) =>
      ({ type: 'tool_use', id, name: 'mcp__hansard__look_up', input: { word } }) as const;
    const { events, requests } = await live.run(
      (request) =>
        toolResultsIn(request).size > 0
          ? [{ type: 'text', text: 'Found.' }]
          : [lookUp('toolu_1', 'pear'), lookUp('toolu_2', 'plum')],
      {
        agentOptions: { permissionMode: 'default' },
        tools: [tools],
        hooks: [
          hookThat(({ tool, toolCallId }) => {
            asked.push(`${tool} ${toolCallId}`);
            return { decision: 'allow' };
          }),
        ],
      },
    );
    const offered = requests[0]?.tools?.find(({ name }) => name === 'mcp__hansard__look_up');
    expect(offered).toMatchObject({ input_schema: { properties: { word: { minLength: 2 } } } });
    expect(calls.map(({ toolCallId }) => toolCallId).sort()).toEqual(['toolu_1', 'toolu_2']);
    expect(asked.sort()).toEqual(['look_up toolu_1', 'look_up toolu_2']);
    const results = ofType(events, 'agent:tool_result');
    const of = (id: string) => results.find(({ data }) => data.toolCallId === id);
    expect(of('toolu_1')).toMatchObject({
      substance: '01UTTERANCE',
      data: { status: 'completed', metadata: { server: 'hansard', tool: 'look_up', word: 'pear' } },
    });
    expect(of('toolu_2')?.data).toMatchObject({ status: 'error', error: 'no such word' });
    expect(of('toolu_2')).not.toHaveProperty('substance');
    expect(toolResultsIn(requests[1] ?? { model: '', messages: [] }).size).toBe(2);
  });
});
