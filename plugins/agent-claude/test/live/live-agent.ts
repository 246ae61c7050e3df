import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type DispatchRun,
  openDispatchStore,
  type RunDispatchOptions,
  startDispatch,
} from '@hansard/dispatch';
import type { CapturedEvent, Delta, DispatchEnvelope } from '@hansard/events';
import type { HookDecision, HookProvider, ToolCallQuestion } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { afterAll, beforeAll, vi } from 'vitest';
import {
  cleanClaudeEnvironment,
  enginePatienceMs,
  requireClaudeEngine,
} from '../../../../scripts/engines/claude-engine.ts';
import {
  type MessagesRequest,
  type MessagesScript,
  type ScriptedMessagesApi,
  startMessagesApi,
} from '../../../../scripts/engines/scripted-messages-api.ts';
import type { ClaudeAgentOptions } from '../../src/claude-agent-options.ts';
import { createClaudeAgent } from '../../src/index.ts';

export interface LiveOptions extends Partial<RunDispatchOptions> {
  readonly agentOptions?: ClaudeAgentOptions;
  /** Over the clean environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A folder that an earlier run used, so that its sessions are found. */
  readonly folder?: string;
  readonly onEvent?: (event: CapturedEvent, run: DispatchRun) => void;
  readonly onDelta?: (delta: Delta, run: DispatchRun) => void;
}

export interface LiveOutcome {
  readonly envelope: DispatchEnvelope;
  readonly events: readonly CapturedEvent[];
  readonly deltas: readonly Delta[];
  readonly requests: readonly MessagesRequest[];
  readonly folder: string;
  /** Where the agent worked. */
  readonly cwd: string;
}

export interface LiveAgents {
  /** Runs a dispatch of the live agent whose model is the script, to its end. */
  run(script: MessagesScript, options?: LiveOptions): Promise<LiveOutcome>;
  /** A folder that is removed at the end. */
  newFolder(): string;
  readonly api: ScriptedMessagesApi;
}

/** The real engine of the SDK on a scripted API of this file's own, in an environment of its own. */
export function useLiveAgents(): LiveAgents {
  vi.setConfig({ testTimeout: enginePatienceMs });
  const root = mkdtempSync(join(tmpdir(), 'hansard-live-'));
  let api: ScriptedMessagesApi | undefined;
  beforeAll(async () => {
    api = await startMessagesApi();
  });
  afterAll(async () => {
    await api?.close();
    rmSync(root, { recursive: true, force: true });
  });
  const newFolder = () => mkdtempSync(join(root, 'run-'));
  const started = () => {
    if (api === undefined) throw new Error('the API runs within tests only');
    return api;
  };
  return {
    newFolder,
    get api() {
      return started();
    },
    async run(script, { agentOptions, env, folder = newFolder(), onEvent, onDelta, ...options } = {}) {
      const endpoint = started().serve(script);
      const cwd = join(folder, 'work');
      mkdirSync(cwd, { recursive: true });
      const agent = createClaudeAgent({
        executable: requireClaudeEngine(),
        model: 'claude-sonnet-4-5',
        permissionMode: 'bypassPermissions',
        env: cleanClaudeEnvironment(folder, endpoint.url, env),
        ...agentOptions,
      });
      const deltas: Delta[] = [];
      const store = openDispatchStore(createMemoryStore());
      const run = await startDispatch({
        store,
        taskDir: 'project/tasks/live',
        agent,
        role: 'tester',
        prompt: 'Do it.',
        cwd,
        loopDetector: false,
        ...options,
      });
      const events: CapturedEvent[] = [];
      for await (const item of run.stream().withDeltas()) {
        if (item.kind === 'delta') {
          deltas.push(item.delta);
          onDelta?.(item.delta, run);
        }
        if (item.kind !== 'event') continue;
        events.push(item.event);
        onEvent?.(item.event, run);
      }
      const envelope = await run.ended;
      return { envelope, events, deltas, requests: endpoint.requests, folder, cwd };
    },
  };
}

/** A hook that decides on calls of tools. */
export function hookThat(decide: (question: ToolCallQuestion) => HookDecision): HookProvider {
  return {
    contract: 1,
    name: 'guard',
    decide: (question) => (question.on === 'tool_call' ? decide(question) : { decision: 'allow' }),
  };
}
