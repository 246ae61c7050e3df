import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { query } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, it } from 'vitest';
import { cleanClaudeEnvironment, requireClaudeEngine } from '../../../../scripts/engines/claude-engine.ts';
import { latestTextIn, toolResultsIn } from '../../../../scripts/engines/scripted-messages-api.ts';
import { createClaudeAgent } from '../../src/index.ts';
import { dataOf, ofType, runAgent, runRequest } from '../run-agent.ts';
import { useLiveAgents } from './live-agent.ts';

const live = useLiveAgents();

/** Command lines of this machine that have the text in them. */
function processesWith(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
        return `${line} ${environment}`.includes(text) && Number(pid) !== process.pid ? [line] : [];
      } catch {
        return [];
      }
    });
}

const waiting = {
  type: 'tool_use',
  id: 'toolu_1',
  name: 'Bash',
  input: { command: 'touch began; tail -f /dev/null' },
} as const;

/** Resolves when the tool, or the engine, has begun. */
async function untilThere(path: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!readdirSync(path).includes('began')) {
    if (Date.now() > deadline) throw new Error(`Nothing began in ${path} within a minute.`);
    await delay(20);
  }
}

describe.skipIf(process.platform !== 'linux')('an abort', () => {
  it('in the middle of a tool ends the tool and the engine, and the log says what was used', async () => {
    const folder = live.newFolder();
    const { events, envelope, cwd } = await live.run(() => [waiting], {
      folder,
      onEvent: ({ type }, run) => {
        if (type !== 'agent:tool_call') return;
        void untilThere(join(folder, 'work')).then(() => run.abort('enough', 'tester'));
      },
    });
    expect(cwd).toContain(folder);
    expect(dataOf(events, 'harness:abort')).toEqual({ reason: 'enough', by: 'tester' });
    expect(dataOf(events, 'agent:tool_result')).toMatchObject({ toolCallId: 'toolu_1', status: 'error' });
    expect(dataOf(events, 'session:complete')).toMatchObject({
      status: 'aborted',
      reason: 'aborted_tools',
      usage: { inputTokens: 100, outputTokens: 20 },
    });
    expect(ofType(events, 'user:message').map(({ data }) => Object(data.source).kind)).toEqual([
      'user',
      'system',
    ]);
    expect(envelope.status).toBe('aborted');
    expect(processesWith(folder)).toEqual([]);
  });

  it('in the turn that hears of a sub-agent in the background counts what that turn used, too', async () => {
    const folder = live.newFolder();
    const work = { description: 'count', prompt: 'Count the files.', subagent_type: 'general-purpose' };
    const input = { ...work, run_in_background: true };
    const { events, envelope } = await live.run(
      (request) => {
        if (JSON.stringify(request.messages[0]).includes(work.prompt))
          return [{ type: 'text', text: 'Three.' }];
        if (latestTextIn(request).includes('task-notification')) return [waiting];
        if (toolResultsIn(request).size > 0) return [{ type: 'text', text: 'Counting.' }];
        return [{ type: 'tool_use', id: 'toolu_task', name: 'Agent', input }];
      },
      {
        folder,
        onEvent: ({ type, data }, run) => {
          if (type !== 'agent:tool_call' || data.toolCallId !== 'toolu_1') return;
          void untilThere(join(folder, 'work')).then(() => run.abort('enough', 'tester'));
        },
      },
    );
    expect(ofType(events, 'session:complete').map(({ data }) => data.status)).toEqual([
      'completed',
      'aborted',
    ]);
    // The main agent asked three times, the sub-agent once.
    expect(envelope).toMatchObject({ status: 'aborted', usage: { inputTokens: 400, outputTokens: 80 } });
    expect(processesWith(folder)).toEqual([]);
  });

  it('before the engine has said anything keeps the model from being asked at all', async () => {
    const folder = live.newFolder();
    const began = Promise.withResolvers<void>();
    void began.promise.then(() => controller.abort());
    const controller = new AbortController();
    const { events, envelope, requests } = await live.run(() => [{ type: 'text', text: 'Hello.' }], {
      folder,
      signal: controller.signal,
      agentOptions: {
        loadSdk: async () => ({
          query: (parameters: Parameters<typeof query>[0]) => {
            began.resolve();
            return query(parameters);
          },
        }),
      },
    });
    expect(events.map(({ type }) => type)).toEqual(['user:message', 'harness:abort']);
    expect(envelope.status).toBe('aborted');
    expect(requests).toHaveLength(0);
    expect(processesWith(folder)).toEqual([]);
  });

  it('while a session is loaded for resuming prevents the start of the engine', async () => {
    const folder = live.newFolder();
    const sessionId = '7f1f3c5e-0b1e-4a55-9d8e-2f6f6a3f6c11';
    const controller = new AbortController();
    const ended = Promise.withResolvers<void>();
    const message = { role: 'user', content: 'Hello.' };
    const entry = { type: 'user', uuid: sessionId, parentUuid: null, sessionId, message };
    const sessionStore = {
      append: async () => {},
      load: async () => {
        controller.abort();
        await ended.promise;
        return [entry];
      },
    };
    const { envelope, requests } = await live.run(() => [{ type: 'text', text: 'Hello.' }], {
      folder,
      resumeSessionId: sessionId,
      signal: controller.signal,
      agentOptions: { sessionStore },
      onEvent: ({ type }) => {
        if (type === 'harness:abort') ended.resolve();
      },
    });
    expect(envelope.status).toBe('aborted');
    expect(requests).toHaveLength(0);
    expect(processesWith(folder)).toEqual([]);
  });

  it('in the middle of an answer does not lose its usage', async () => {
    const folder = live.newFolder();
    const never = new Promise(() => {});
    const controller = new AbortController();
    const { events, envelope, deltas } = await live.run(
      (request) => (request.stream ? { content: [{ type: 'text', text: 'Once upon' }], hold: never } : []),
      {
        folder,
        signal: controller.signal,
        onDelta: ({ text }) => {
          if (text === 'Once upon') controller.abort('seen enough');
        },
      },
    );
    expect(deltas.map(({ text }) => text)).toContain('Once upon');
    expect(dataOf(events, 'agent:inference').usage).toMatchObject({ inputTokens: 100 });
    expect(envelope.status).toBe('aborted');
    expect(processesWith(folder)).toEqual([]);
  });

  it('while only a command in the background runs ends that, too', async () => {
    const folder = live.newFolder();
    const left = { ...waiting, input: { ...waiting.input, run_in_background: true } };
    const { events, envelope } = await live.run(
      (_, index) => (index === 0 ? [left] : [{ type: 'text', text: 'It runs.' }]),
      {
        folder,
        onEvent: ({ type }, run) => {
          if (type !== 'session:complete') return;
          void untilThere(join(folder, 'work')).then(() => run.abort('enough', 'tester'));
        },
      },
    );
    expect(dataOf(events, 'system:task_started')).toMatchObject({ task_type: 'local_bash' });
    expect(dataOf(events, 'system:task_notification')).toMatchObject({ status: 'stopped' });
    expect(envelope).toMatchObject({ status: 'aborted', usage: { inputTokens: 200, outputTokens: 40 } });
    expect(processesWith(folder)).toEqual([]);
  });

  it('ends an engine by force if it does not end on request', async () => {
    const folder = live.newFolder();
    const executable = join(folder, 'claude');
    writeFileSync(executable, `#!/bin/sh\ntrap '' TERM\ntouch ${folder}/began\nexec tail -f /dev/null\n`);
    chmodSync(executable, 0o755);
    const controller = new AbortController();
    const began = untilThere(folder).then(() => {
      const running = processesWith(folder);
      controller.abort();
      return running;
    });
    const agent = createClaudeAgent({
      executable,
      env: cleanClaudeEnvironment(folder, live.api.serve(() => []).url),
    });
    expect((await runAgent(agent, { signal: controller.signal })).events).toEqual([]);
    expect(await began).toHaveLength(1);
    expect(processesWith(folder)).toEqual([]);
  });

  it('a consumer that leaves the loop leaves no process behind', async () => {
    const folder = live.newFolder();
    const never = new Promise(() => {});
    const endpoint = live.api.serve(() => ({ content: [{ type: 'text', text: 'Once upon' }], hold: never }));
    const agent = createClaudeAgent({
      executable: requireClaudeEngine(),
      env: cleanClaudeEnvironment(folder, endpoint.url),
    });
    for await (const activity of agent.run(runRequest({ cwd: folder }))) {
      if (activity.kind !== 'delta') continue;
      expect(processesWith(folder).length).toBeGreaterThan(0);
      break;
    }
    expect(processesWith(folder)).toEqual([]);
  });
});
