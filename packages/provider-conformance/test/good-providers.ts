import { newEvent } from '@hansard/events';
import type {
  AgentActivity,
  AgentProvider,
  AgentRunRequest,
  JsonValue,
  LanguageModelProvider,
  ModelRequest,
  ModelResponse,
  ToolCall,
  ToolOutcome,
  ToolProvider,
} from '@hansard/provider';
import type {
  AgentFixture,
  AgentScenario,
  ModelFixture,
  ModelScenario,
  ProviderUnderTest,
  ToolFixture,
  ToolScenario,
} from '../src/index.ts';

/** Short, as only broken providers use it up. */
export const patienceMs = 100;

export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

export function say(text: string, changes: Partial<ModelResponse> = {}): ModelResponse {
  return { text, toolCalls: [], model: 'm-1', usage: { inputTokens: 1, outputTokens: 1 }, ...changes };
}

/** A model that keeps the contract: it calls the offered tool twice, waits where it is asked to, and otherwise says two words. */
export function goodModel(changes: Partial<LanguageModelProvider> = {}): LanguageModelProvider {
  return { contract: 1, generate: answer, ...changes };
}

export async function answer({
  messages,
  tools,
  signal,
  onDelta,
  agentId,
}: ModelRequest): Promise<ModelResponse> {
  signal.throwIfAborted();
  if (messages.some(({ text }) => text === 'wait')) return untilAborted(signal);
  const [tool] = tools;
  if (tool !== undefined) {
    const call = (toolCallId: string) => ({ toolCallId, tool: tool.name, input: { at: 'table' } });
    return say('', { toolCalls: [call('c1'), call('c2')] });
  }
  onDelta?.({ type: 'delta:thinking', text: 'Hm.', agentId });
  for (const text of ['Good ', 'day.']) onDelta?.({ type: 'delta:text', text, agentId });
  return say('Good day.', { thinking: { text: 'Hm.' } });
}

export function modelUnderTest(
  open: () => LanguageModelProvider,
): ProviderUnderTest<ModelScenario, ModelFixture> {
  return {
    scenarios: ['toolCall', 'slow', 'repeatable'],
    patienceMs,
    create: (scenario) => ({
      provider: open(),
      request: {
        ...(scenario === 'slow' ? { messages: [{ role: 'user', text: 'wait' }] } : {}),
        ...(scenario === 'toolCall'
          ? { tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }] }
          : {}),
      },
    }),
  };
}

const look = {
  name: 'look',
  description: 'Looks at a place.',
  inputSchema: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] },
};

/** Tools that keep the contract: `look` needs a place, and waits where the place is `far`. */
export function goodTools(changes: Partial<ToolProvider> = {}): ToolProvider {
  return { contract: 1, listTools: () => [look], callTool: lookAt, ...changes };
}

export async function lookAt({ tool, input, signal }: ToolCall): Promise<ToolOutcome> {
  if (tool !== 'look') throw new Error(`There is no tool ${tool}.`);
  signal.throwIfAborted();
  const at = placeIn(input);
  if (at === null) return { status: 'error', text: 'Error: at must be a text.' };
  return at === 'far' ? untilAborted(signal) : { status: 'completed', text: 'A cup.', metadata: { at } };
}

function placeIn(input: JsonValue): string | null {
  const { at } = (input ?? {}) as { readonly at?: unknown };
  return typeof at === 'string' ? at : null;
}

export function toolsUnderTest(open: () => ToolProvider): ProviderUnderTest<ToolScenario, ToolFixture> {
  const inputs = { plain: { at: 'table' }, wrongInput: { at: 1 }, slow: { at: 'far' } };
  return {
    scenarios: ['wrongInput', 'slow'],
    patienceMs,
    create: (scenario) => ({ provider: open(), call: { tool: 'look', input: inputs[scenario] } }),
  };
}

/** What an agent of the tests has done to the world outside. */
export class World {
  hasFile = false;
  readonly heard: string[] = [];
}

type Run = (request: AgentRunRequest, world: World) => AsyncGenerator<AgentActivity, void>;

export const event = (type: Parameters<typeof newEvent>[0], data: object): AgentActivity => ({
  kind: 'event',
  event: newEvent(type as 'agent:text', data as { text: string }),
});
export const text = (words: string) => event('agent:text', { text: words });
export const complete = event('session:complete', { status: 'completed' });
export const ownCall = { toolCallId: 'c1', tool: 'write', input: { path: 'a.txt' } };

/** An agent that keeps the contract: the prompt names the scenario. */
export async function* goodRun(request: AgentRunRequest, world: World): AsyncGenerator<AgentActivity, void> {
  const { prompt, signal, messages, tools, askHooks } = request;
  if (signal.aborted) return;
  yield text('I begin.');
  if (prompt === 'slow') await untilAborted(signal);
  if (prompt === 'ownTool') {
    yield event('agent:tool_call', { ...ownCall, metadata: {} });
    const { decision } = await askHooks(ownCall);
    if (decision === 'allow') world.hasFile = true;
    const status = decision === 'allow' ? 'completed' : 'error';
    yield event('agent:tool_result', { toolCallId: 'c1', tool: 'write', status, metadata: {} });
  }
  if (prompt === 'offeredTool') {
    const [echo] = tools;
    const call = { toolCallId: 'c1', input: { text: 'echo' } };
    yield event('agent:tool_call', { ...call, tool: 'conformance_echo', metadata: {} });
    const outcome = await echo?.call({ ...call, signal });
    const result = {
      toolCallId: 'c1',
      tool: 'conformance_echo',
      status: outcome?.status ?? 'error',
      metadata: {},
    };
    yield event('agent:tool_result', result);
  }
  if (prompt === 'messages')
    for await (const { data } of messages) {
      world.heard.push(String(data.text));
      break;
    }
  yield { kind: 'delta', delta: { type: 'delta:text', text: 'Done.' } };
  yield text('Done.');
  yield complete;
}

export function agentUnderTest(
  run: Run = goodRun,
  changes: Partial<AgentProvider> = {},
): ProviderUnderTest<AgentScenario, AgentFixture> {
  return {
    scenarios: ['slow', 'ownTool', 'offeredTool', 'messages', 'recording'],
    patienceMs,
    create: (scenario): AgentFixture => {
      const world = new World();
      return {
        provider: {
          contract: 1,
          run: (request) => run(request, world),
          recordedStart: () => '2026-03-01T09:00:00.000Z',
          ...changes,
        },
        request: { prompt: scenario },
        hasEffect: (message) => (scenario === 'messages' ? world.heard.includes(message) : world.hasFile),
      };
    },
  };
}
