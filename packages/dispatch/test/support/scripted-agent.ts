import { type Delta, type EventData, type KnownEventType, newEvent } from '@hansard/events';
import type { AgentActivity, AgentProvider, AgentRunRequest } from '@hansard/provider';

/** An agent that does what the script says. */
export function agent(script: (request: AgentRunRequest) => AsyncIterable<AgentActivity>): AgentProvider {
  return { contract: 1, run: script };
}

export function yields(...activities: readonly AgentActivity[]): AgentProvider {
  return agent(async function* () {
    yield* activities;
  });
}

export function event<T extends KnownEventType>(type: T, data: EventData<T>): AgentActivity {
  return { kind: 'event', event: newEvent(type, data) };
}

export function says(text: string): AgentActivity {
  return event('agent:text', { text });
}

export function calls(tool: string, target: string): AgentActivity {
  return event('agent:tool_call', { toolCallId: 'call', tool, target, metadata: {} });
}

export function delta(text: string): AgentActivity {
  return { kind: 'delta', delta: { type: 'delta:text', text } satisfies Delta };
}

/** Resolves when the run stops its agent. */
export function stopped({ signal }: AgentRunRequest): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
