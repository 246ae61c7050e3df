import type { NewEvent } from '@hansard/events';

/**
 * Events of every shape of row, in random order: agents that come late, messages with deliveries and hooks, calls whose results come at once, far
 * away or never, model calls, long runs of harness records. `at` is the position of the first one.
 */
export function randomLog(random: () => number, count: number, at = 0): NewEvent[] {
  const pick = <T>(...of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const agents: (string | undefined)[] = [undefined];
  const open: { readonly toolCallId: string; readonly agentId?: string }[] = [];
  const said: { readonly id: string; readonly text: string }[] = [];
  const events: NewEvent[] = [];
  const add = (event: NewEvent) => void events.push(event);
  const of = () => {
    const agentId = pick(...agents);
    return agentId === undefined ? {} : { agentId };
  };
  while (events.length < count) {
    const number = at + events.length;
    const text = `${pick('Wien', 'naïve 東京', 'two\nlines', 'café 🙂', 'x'.repeat(90))} ${number}`;
    const kind = random();
    if (kind < 0.04) {
      const agentId = `agent_${number}`;
      agents.push(agentId);
      add({ type: 'agent:created', agentId, data: { name: `Agent ${number}`, languageModel: 'm' } });
    } else if (kind < 0.24) {
      const id = `said-${number}`;
      said.push({ id, text });
      add({ id, type: 'agent:text', ...of(), data: { text } } as NewEvent);
    } else if (kind < 0.34) {
      const heard =
        said.length > 0 && random() < 0.7 ? said[Math.floor(random() ** 0.3 * said.length)] : undefined;
      const source = heard === undefined ? { kind: 'user' } : { kind: 'agent', agentId: 'agent_0' };
      add({
        type: 'user:message',
        ...of(),
        ...(heard === undefined ? {} : { substance: heard.id }),
        data: { text: heard?.text ?? text, source },
      } as NewEvent);
    } else if (kind < 0.48) {
      const call = { toolCallId: `call-${number}`, ...of() };
      open.push(call);
      const { toolCallId, ...own } = call;
      add({
        type: 'agent:tool_call',
        ...own,
        data: { tool: pick('Bash', 'Read'), toolCallId, metadata: {}, input: { text } },
      });
    } else if (kind < 0.6 && open.length > 0) {
      const [call] = open.splice(Math.floor(random() ** 0.3 * open.length), 1);
      if (call === undefined) continue;
      const { toolCallId, ...own } = call;
      const status = pick('completed', 'error');
      add({
        type: 'agent:tool_result',
        ...own,
        data: { tool: 'Bash', toolCallId, metadata: {}, status, output: text, durationMs: 3 },
      });
    } else if (kind < 0.68) add({ type: 'agent:thinking', ...of(), data: { text } });
    else if (kind < 0.78) {
      const usage = { inputTokens: number, outputTokens: 2 };
      add({ type: 'agent:inference', ...of(), data: { model: 'm', usage, durationMs: 4 } });
    } else
      for (let left = random() < 0.02 ? 60 : Math.ceil(random() * 3); left > 0; left -= 1)
        add({ type: 'system:hook_progress', data: { hook: 'redact', progress: left } });
  }
  return events.slice(0, count);
}
