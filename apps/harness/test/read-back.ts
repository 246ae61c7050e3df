import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { SessionViewer } from '@hansard/views';
import type { CommandLine } from './command-line.ts';

export async function eventsOf(line: CommandLine, task: string): Promise<CapturedEvent[]> {
  return (await line.hansard('show', `${task}/latest`, '--raw', '--json')).json() as CapturedEvent[];
}

export async function envelopesOf(line: CommandLine, task: string): Promise<DispatchEnvelope[]> {
  return (await line.hansard('ls', task, '--json')).json() as DispatchEnvelope[];
}

/** The calls of all agents that do not have exactly one result, and it after them. */
export function danglingCalls(events: readonly CapturedEvent[]): string[] {
  const viewer = new SessionViewer(events);
  return [...viewer.listAgents().keys()].flatMap((agentId) => {
    const messages = viewer.getTranscript(agentId).map(({ message }) => message);
    return messages.flatMap(({ toolCalls = [] }, at) =>
      toolCalls.flatMap(({ toolCallId }) => {
        const results = messages.slice(at + 1).filter((message) => message.toolCallId === toolCallId);
        return results.length === 1 ? [] : [`${agentId} ${toolCallId}: ${results.length} results`];
      }),
    );
  });
}
