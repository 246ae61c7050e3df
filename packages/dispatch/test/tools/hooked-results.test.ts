import type { HookProvider, HookQuestion } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { event, says } from '../support/scripted-agent.ts';
import { hook, prepare } from './project-tools-scenario.ts';
import { done, tools, use } from './scripted-tools.ts';

/** Lets an agent call `read` once, report the result as an engine does, and say something. */
async function readUnder(hooks: readonly HookProvider[], fidelity: 'full' | 'narrative' = 'full') {
  const { start, log } = prepare();
  const texts: string[] = [];
  const run = await start(
    async function* (request) {
      yield says('I may not.');
      yield event('agent:tool_call', { toolCallId: 'c1', tool: 'read', metadata: {} });
      const { status, text } = await use(request, 'read', { path: 'till.txt' });
      texts.push(text);
      yield event('agent:tool_result', {
        toolCallId: 'c1',
        tool: 'read',
        status,
        metadata: {},
        output: text,
      });
    },
    { hooks, fidelity, tools: [tools({ read: () => done('The till opens with 4711.') })] },
  );
  await run.ended;
  const events = await log();
  const of = (type: string) => events.filter((one) => one.type === type);
  return {
    text: texts[0],
    events,
    decisions: of('harness:hook_decision'),
    call: of('agent:tool_call')[0],
    result: of('agent:tool_result')[0],
  };
}

const redact = hook('redact', (question) =>
  question.on === 'tool_result'
    ? { decision: 'alter', text: question.text.replace('4711', '****') }
    : { decision: 'allow' },
);

describe('the result of a tool of the project', () => {
  it('is asked about, with the input that the tool got', async () => {
    const asked: HookQuestion[] = [];
    const { text, result } = await readUnder([
      hook('watch', (question) => {
        asked.push(question);
        return question.on === 'tool_call'
          ? { decision: 'alter', input: { path: 'safe.txt' } }
          : { decision: 'allow' };
      }),
    ]);
    expect(asked[1]).toEqual({
      on: 'tool_result',
      dispatchId: 'D1',
      toolCallId: 'c1',
      tool: 'read',
      input: { path: 'safe.txt' },
      status: 'completed',
      text: 'The till opens with 4711.',
      agents: [],
    });
    expect(text).toBe('The till opens with 4711.');
    expect(result?.via).toBeDefined();
  });

  it('reaches the agent as a hook altered it, and the event that the agent yields names the last decision', async () => {
    const alterCall = hook('caller', ({ on }) =>
      on === 'tool_call' ? { decision: 'alter', input: 'till' } : { decision: 'allow' },
    );
    const { text, decisions, call, result } = await readUnder([alterCall, redact]);
    expect(text).toBe('The till opens with ****.');
    expect(decisions.map(({ cause }) => cause)).toEqual([call?.id, call?.id]);
    expect(decisions[1]?.data).toEqual({
      hook: 'redact',
      on: 'tool_result',
      decision: 'alter',
      toolCallId: 'c1',
      subject: call?.id,
      previous: decisions[0]?.id,
      given: 'The till opens with 4711.',
      text: 'The till opens with ****.',
    });
    expect(result?.via).toBe(decisions[1]?.id);
  });

  it('is not in a narrative log, neither before nor after the alteration', async () => {
    const { text, events } = await readUnder([redact], 'narrative');
    expect(text).toBe('The till opens with ****.');
    expect(JSON.stringify(events)).not.toContain('The till');
  });

  it('is an error where a hook denies it', async () => {
    const { text, result, decisions } = await readUnder([
      hook('censor', ({ on }) =>
        on === 'tool_result' ? { decision: 'deny', reason: 'a secret' } : { decision: 'allow' },
      ),
    ]);
    expect(text).toBe("Error: Result withheld by hook 'censor': a secret");
    expect(result).toMatchObject({ via: decisions[0]?.id, data: { status: 'error' } });
  });

  it('of a call that was denied is not asked about, and names the denial', async () => {
    const { text, result, decisions } = await readUnder([
      hook('guard', () => ({ decision: 'deny', reason: 'no' })),
    ]);
    expect(text).toBe("Error: Action blocked by hook 'guard': no");
    expect(decisions).toHaveLength(1);
    expect(result?.via).toBe(decisions[0]?.id);
  });
});

describe('a decision that names its cause', () => {
  const verdictOf = async (cause: (events: readonly { id: string; type: string }[]) => string) => {
    const { start, log } = prepare();
    const guard = hook('guard', async () => ({
      decision: 'deny',
      reason: 'no',
      cause: cause(await log()),
    }));
    const run = await start(
      async function* (request) {
        yield says('I may not.');
        yield event('agent:tool_call', { toolCallId: 'c1', tool: 'read', metadata: {} });
        await use(request, 'read');
      },
      { hooks: [guard], tools: [tools({ read: () => done('read') })] },
    );
    await run.ended;
    return log();
  };

  it('has the call and that event as its causes', async () => {
    const log = await verdictOf((events) => events.find(({ type }) => type === 'agent:text')?.id ?? '');
    const [verdict, call, decision] = log;
    expect(decision).toMatchObject({ type: 'harness:hook_decision', cause: [call?.id, verdict?.id] });
  });

  it('counts without it if the log has no such event, which is recorded', async () => {
    const [, call, error, decision] = await verdictOf(() => 'nowhere');
    expect(error?.data.message).toBe(
      'The hook guard named as the cause of its decision on a tool_call an event that is not in the log.',
    );
    expect(decision).toMatchObject({ cause: call?.id, data: { decision: 'deny' } });
  });
});
