import type { DispatchStore } from '@hansard/dispatch';
import type { LanguageModelProvider, ModelResponse, ToolProvider } from '@hansard/provider';
import type { OpenSessionOptions } from '@hansard/session';

/** Figures of the next model calls: any, with multiples of 1/64 as costs. */
function figures(random: () => number): Pick<ModelResponse, 'model' | 'usage' | 'costUsd'> {
  const whole = (most: number) => Math.floor(random() * most);
  return {
    model: random() < 0.5 ? 'large' : 'small',
    usage: {
      inputTokens: whole(1_000),
      outputTokens: whole(1_000),
      ...(random() < 0.5 ? { cacheReadTokens: whole(1_000) } : {}),
    },
    ...(random() < 0.6 ? { costUsd: (1 + whole(64)) / 64 } : {}),
  };
}

const question = 'What do you think?';

/** The root asks another agent first, and then answers. */
export function scriptedModel(random: () => number): LanguageModelProvider {
  let number = 0;
  return {
    contract: 1,
    generate: async ({ agentName, messages }) => {
      const last = messages.at(-1);
      if (last?.role === 'user' && last.text.includes('fail')) throw new Error('The model is gone.');
      number += 1;
      const asks = agentName === null && last?.role === 'user' && last.text !== question;
      return {
        ...figures(random),
        text: asks ? '' : `Answer ${number}`,
        toolCalls: asks ? [{ toolCallId: `c${number}`, tool: 'ask', input: {} }] : [],
      };
    },
  };
}

export const askTool: ToolProvider = {
  contract: 1,
  listTools: () => [{ name: 'ask', description: 'Asks another agent.', inputSchema: { type: 'object' } }],
  callTool: async ({ agents }) => {
    if (agents === undefined) throw new TypeError('The call comes from no session.');
    const { agentId } = await agents.createAgent({ systemPrompt: 'Be brief.' });
    await agents.deliver(agentId, { text: question });
    return { status: 'completed', text: (await agents.respond(agentId)).text };
  },
};

export function sessionOptions(
  store: DispatchStore,
  taskDir: string,
  dispatchId: string,
  random: () => number,
): OpenSessionOptions & { dispatchId: string } {
  return { store, taskDir, dispatchId, model: scriptedModel(random), tools: [askTool] };
}
