import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { openSqliteStore } from '@hansard/store-sqlite';
import { randomFrom } from '@hansard/testing';

export const taskDir = 'benchmarks/tasks/viewer';
export type StoreKind = 'jsonfile' | 'sqlite';
const agents = 64;
const sentence = 'The route table has three candidates; the second one is cheaper at night. ';

export function openStore(kind: StoreKind, path: string): DispatchStore {
  return openDispatchStore(kind === 'sqlite' ? openSqliteStore({ path }) : openJsonFileStore({ root: path }));
}

/** Appends events of mixed kinds by 64 agents: texts, thoughts, calls with their results, figures, messages, records. */
export async function writeLog(store: DispatchStore, dispatchId: string, count: number): Promise<void> {
  const random = randomFrom(1);
  await using dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId, fidelity: 'full' });
  let batch: NewEvent[] = [];
  for (let at = 0; at < count; at += 1) {
    batch.push(at < agents ? created(at) : eventAt(at, random));
    if (batch.length < 1_000 && at < count - 1) continue;
    await dispatch.append(batch);
    batch = [];
  }
}

const agentAt = (at: number) => `agent_${String(at % agents).padStart(3, '0')}`;

function created(at: number): NewEvent {
  return {
    type: 'agent:created',
    agentId: agentAt(at),
    data: { name: `Agent ${at}`, languageModel: 'model-a' },
  };
}

function eventAt(at: number, random: () => number): NewEvent {
  const round = Math.floor(at / 8);
  const agentId = agentAt(round * 31);
  const text = `event ${at}. ${sentence.repeat(1 + Math.floor(random() * 9))}`;
  const call = {
    tool: ['Bash', 'Read', 'Edit', 'Grep'][round % 4] ?? '',
    toolCallId: `c${round}`,
    metadata: {},
  };
  const target = `step ${round}`;
  const usage = { inputTokens: at % 9_000, outputTokens: at % 400 };
  const kinds: readonly NewEvent[] = [
    { type: 'agent:text', agentId, data: { text } },
    { type: 'agent:thinking', agentId, data: { text } },
    { type: 'agent:tool_call', agentId, data: { ...call, target, input: { command: text } } },
    { type: 'agent:inference', agentId, data: { model: 'model-a', usage, durationMs: 1_200 } },
    {
      type: 'agent:tool_result',
      agentId,
      data: {
        ...call,
        target,
        output: text,
        status: round % 37 === 0 ? 'error' : 'completed',
        durationMs: at % 900,
      },
    },
    { type: 'user:message', agentId, data: { text, source: { kind: 'user' } } },
    { type: 'session:status', agentId, data: { status: 'running' } },
    { type: 'system:hook_progress', agentId, data: { hook: 'redact', progress: at % 100 } },
  ];
  return kinds[at % 8] as NewEvent;
}
