import { runDispatch } from '@hansard/dispatch';
import type { HookProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { Gate, turn } from '../support/gate.ts';
import { says, yields } from '../support/scripted-agent.ts';
import { hook, never, prepare } from './project-tools-scenario.ts';
import { done, tools, use } from './scripted-tools.ts';

/** Lets an agent call `write` under a hook that never decides, and another one that does. */
async function hanging(more: Partial<HookProvider>, hookTimeoutMs?: number | false) {
  const prepared = prepare();
  const asked = new Gate();
  const calls: unknown[] = [];
  const slow = hook(
    'Slow',
    () => {
      asked.open();
      return never();
    },
    more,
  );
  const others: unknown[] = [];
  const other = hook('Other', ({ on }) => {
    others.push(on);
    return { decision: 'allow' };
  });
  const write = () => {
    calls.push('write');
    return done('Written.');
  };
  const outcomes: unknown[] = [];
  const run = await prepared.start(
    async function* (request) {
      outcomes.push(await use(request, 'write'));
      yield says('over');
    },
    {
      hooks: [slow, other],
      tools: [tools({ write })],
      ...(hookTimeoutMs === undefined ? {} : { hookTimeoutMs }),
    },
  );
  await asked.opened;
  return { ...prepared, run, calls, others, outcomes };
}

describe('a hook that gives no decision in time', () => {
  it('is skipped, and its timeout is recorded with its code', async () => {
    const { clock, run, calls, others, outcomes, log } = await hanging({}, 1_000);
    clock.advance(999);
    await turn();
    expect(others).toEqual([]);
    clock.advance(1);
    // It hangs again when it is asked about the result.
    await clock.timersSet(2);
    clock.advance(1_000);
    expect((await run.ended).status).toBe('completed');
    expect(calls).toEqual(['write']);
    expect(others).toEqual(['tool_call', 'tool_result']);
    expect(outcomes).toEqual([{ status: 'completed', text: 'Written.' }]);
    const errors = (await log()).filter(({ type }) => type === 'harness:error');
    expect(errors.map(({ data }) => [data.code, data.message])).toEqual([
      [
        'DISPATCH_HOOK_TIMEOUT',
        'The hook Slow could not decide on a tool_call: it gave no decision within 1000 ms.',
      ],
      [
        'DISPATCH_HOOK_TIMEOUT',
        'The hook Slow could not decide on a tool_result: it gave no decision within 1000 ms.',
      ],
    ]);
    expect(clock.timers).toBe(0);
  });

  it('denies if it is required', async () => {
    const { clock, run, calls, outcomes, log } = await hanging({ required: true }, 1_000);
    clock.advance(1_000);
    await run.ended;
    expect(calls).toEqual([]);
    expect(outcomes).toMatchObject([{ status: 'error', text: expect.stringContaining('must be asked') }]);
    expect((await log()).map(({ type }) => type)).toEqual([
      'harness:error',
      'harness:hook_decision',
      'agent:text',
    ]);
  });

  it('may take five minutes if nothing is said, and any time if there is no limit', async () => {
    const usual = await hanging({ required: true });
    usual.clock.advance(299_999);
    await turn();
    expect(usual.outcomes).toEqual([]);
    usual.clock.advance(1);
    await usual.run.ended;
    expect(usual.outcomes).toHaveLength(1);

    const unlimited = await hanging({ required: true }, false);
    unlimited.clock.advance(1_000_000_000);
    await turn();
    expect(unlimited.outcomes).toEqual([]);
    unlimited.run.abort('enough');
    expect((await unlimited.run.ended).status).toBe('aborted');
  });

  it('holds no timer when its question ends because the dispatch is stopped', async () => {
    const { clock, run } = await hanging({}, 1_000);
    run.abort('enough');
    await run.ended;
    expect(clock.timers).toBe(0);
  });
});

it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])(
  'a limit of %s for hooks is refused',
  async (hookTimeoutMs) => {
    const { store } = prepare(createMemoryStore());
    const options = { store, taskDir: 'a/tasks/b', role: 'worker', agent: yields(), hookTimeoutMs };
    await expect(runDispatch(options)).rejects.toMatchObject({ code: 'DISPATCH_OPTION_INVALID' });
  },
);
