import { type CapturedEvent, isEventOf } from '@hansard/events';
import { compareContexts, renderCalls } from '@hansard/prompt';
import { createLogIndex, hearingMatrix, neverHeard } from '@hansard/views';
import type { Called, ConcurrentlyPlayed, Sent } from './played.ts';

/** What an agent's part of the log says, read without the views. */
interface AgentLog {
  readonly system: readonly string[];
  /** The messages that it received, in the order of the log. */
  readonly messages: readonly string[];
  /** Its answers by the number of the call, with the ids of their tool calls. */
  readonly answers: ReadonlyMap<number, { readonly text: string; readonly toolCallIds: readonly string[] }>;
  /** By tool call. */
  readonly results: ReadonlyMap<string, string>;
  /** The transcript: messages, answers and results in the order of the log. */
  readonly lines: readonly string[];
}

/** How many of each were compared. */
export interface ConcurrentCounts {
  prompts: number;
  transcripts: number;
  cells: number;
  repeats: number;
}

/** Everything that differs from what the threads of the program did, in words. */
export function wrongIn(played: ConcurrentlyPlayed, counts: ConcurrentCounts): string[] {
  const wrong: string[] = [];
  for (const agentId of played.agentIds) {
    const log = readLog(played.events, agentId);
    const sent = played.sent.filter((one) => one.agentId === agentId);
    wrong.push(
      ...outside(
        `the log of ${agentId}`,
        sent,
        log.messages,
        Number.MAX_SAFE_INTEGER,
        Number.MAX_SAFE_INTEGER,
      ),
    );
    wrong.push(...wrongPrompts(played, agentId, log, sent, counts));
    wrong.push(...wrongTranscripts(played, agentId, log, sent, counts));
  }
  return [...wrong, ...wrongRepeats(played, counts), ...wrongCells(played, counts)];
}

function readLog(events: readonly CapturedEvent[], agentId: string): AgentLog {
  const own = events.filter((event) => event.agentId === agentId);
  const system: string[] = [];
  const messages: string[] = [];
  const lines: string[] = [];
  const results = new Map<string, string>();
  const answers = new Map<number, { text: string; toolCallIds: string[] }>();
  for (const event of own) {
    if (isEventOf(event, 'agent:system_prompt')) {
      system.push(event.data.text);
      lines.push(`system: ${event.data.text}`);
    } else if (isEventOf(event, 'user:message')) {
      messages.push(event.data.text);
      lines.push(`user: ${event.data.text}`);
    } else if (isEventOf(event, 'agent:tool_result')) {
      results.set(event.data.toolCallId, String(event.data.output));
      lines.push(`tool: ${event.data.output}`);
    } else if (isEventOf(event, 'agent:text')) lines.push(`assistant: ${event.data.text}`);
    else if (isEventOf(event, 'agent:inference')) {
      const blocks = own.filter(({ messageId }) => messageId === event.messageId);
      const text = blocks.find((block) => isEventOf(block, 'agent:text'))?.data.text ?? '';
      const calls = blocks.filter((block) => isEventOf(block, 'agent:tool_call'));
      answers.set(event.data.usage?.inputTokens ?? 0, {
        text,
        toolCallIds: calls.map(({ data }) => data.toolCallId),
      });
    }
  }
  return { system, messages, answers, results, lines };
}

/** A prompt has the first messages of the log: all that were recorded before it was asked for, and none that was sent later. */
function wrongPrompts(
  { called, awaiting }: ConcurrentlyPlayed,
  agentId: string,
  log: AgentLog,
  sent: readonly Sent[],
  counts: ConcurrentCounts,
): string[] {
  const wrong: string[] = [];
  const before: string[] = log.system.map((text) => `system: ${text}`);
  let taken = 0;
  let latest: string[] = [];
  for (const call of called.filter((one) => one.agentId === agentId)) {
    const where = `the prompt of call ${call.number} of ${agentId}`;
    const has = call.prompt.filter((line) => line.startsWith('user: ')).length;
    const expected = [...before, ...log.messages.slice(taken, has).map((text) => `user: ${text}`)];
    counts.prompts += 1;
    if (expected.join('\n') !== call.prompt.join('\n'))
      wrong.push(`${where}: ${call.prompt.join(' | ')}, not ${expected.join(' | ')}`);
    wrong.push(...outside(where, sent, log.messages.slice(0, has), call.askedAt, call.calledAt));
    const answer = log.answers.get(call.number);
    if (answer === undefined) continue;
    latest = [...answer.toolCallIds];
    const results = latest.map((id) => `tool: ${log.results.get(id)}`);
    before.splice(0, before.length, ...expected, `assistant: ${answer.text}`, ...results);
    taken = Math.max(taken, has);
  }
  const awaits = taken < log.messages.length || latest.length > 0;
  if (awaiting.get(agentId) !== awaits)
    wrong.push(`${agentId} does not await a response as it should: ${awaits}`);
  return wrong;
}

function wrongTranscripts(
  { read }: ConcurrentlyPlayed,
  agentId: string,
  log: AgentLog,
  sent: readonly Sent[],
  counts: ConcurrentCounts,
): string[] {
  return read
    .filter((one) => one.agentId === agentId)
    .flatMap(({ lines, startedAt, endedAt }) => {
      counts.transcripts += 1;
      const where = `a transcript of ${agentId}`;
      if (lines.join('\n') !== log.lines.slice(0, lines.length).join('\n'))
        return [`${where}: ${lines.join(' | ')}, not ${log.lines.slice(0, lines.length).join(' | ')}`];
      const messages = lines
        .filter((line) => line.startsWith('user: '))
        .map((line) => line.slice('user: '.length));
      return outside(where, sent, messages, startedAt, endedAt);
    });
}

/** Texts that are more often there than they were sent before `latest`, or less often than they were recorded before `earliest`. */
function outside(
  where: string,
  sent: readonly Sent[],
  there: readonly string[],
  earliest: number,
  latest: number,
): string[] {
  return [...new Set([...there, ...sent.map(({ text }) => text)])].flatMap((text) => {
    const alike = sent.filter((one) => one.text === text);
    const least = alike.filter(({ recordedAt }) => recordedAt !== null && recordedAt < earliest).length;
    const most = alike.filter(({ startedAt }) => startedAt < latest).length;
    const count = there.filter((one) => one === text).length;
    return count < least || count > most
      ? [`${where}: "${text}" ${count} times, not ${least} to ${most}`]
      : [];
  });
}

/** The log renders every prompt again, and its manifest. */
function wrongRepeats({ events, called }: ConcurrentlyPlayed, counts: ConcurrentCounts): string[] {
  const prompts = new Map(called.map((call) => [call.number, call.prompt.join('\n')]));
  return [...renderCalls(events)].flatMap(({ inference, agentId, messages, recorded, manifest }) => {
    counts.repeats += 1;
    const number = numberOf(inference);
    const again = messages.map(({ role, text }) => `${role}: ${text}`).join('\n');
    if (again !== prompts.get(number)) return [`call ${number} of ${agentId} renders to another prompt`];
    return recorded === null || compareContexts(recorded, manifest).length > 0
      ? [`call ${number} of ${agentId} renders to another hash`]
      : [];
  });
}

function numberOf(event: CapturedEvent): Called['number'] {
  return isEventOf(event, 'agent:inference') ? (event.data.usage?.inputTokens ?? 0) : 0;
}

/** Who heard an utterance, and who never did. What a closing session may have recorded is not compared. */
function wrongCells({ events, sent, agentIds }: ConcurrentlyPlayed, counts: ConcurrentCounts): string[] {
  const index = createLogIndex(events);
  const carried = new Set(
    events.flatMap(({ type, cause }) => (type === 'agent:tool_result' ? [cause ?? []].flat() : [])),
  );
  return hearingMatrix(index).rows.flatMap(({ saying, cells }) => {
    const { id, speaker } = saying;
    const never = neverHeard(index, id).map(({ agent, answer }) => `${agent.agentId} ${answer}`);
    if (events.find((event) => event.id === id)?.type !== 'agent:text' || carried.has(id)) return [];
    return agentIds.flatMap((agentId) => {
      const to = sent.filter((one) => one.utterance === id && one.agentId === agentId);
      const least = to.filter(({ recordedAt }) => recordedAt !== null).length;
      const heard = (cells.get(agentId) ?? []).filter((way) => way !== 'said').length;
      counts.cells += 1;
      const where = `${id} of ${speaker.agentId}, ${agentId}`;
      if (heard < least || heard > to.length)
        return [`${where}: heard ${heard} times, not ${least} to ${to.length}`];
      const isSilent = agentId !== speaker.agentId && heard === 0;
      return never.includes(`${agentId} never`) === isSilent
        ? []
        : [`${where}: never heard is not ${isSilent}`];
    });
  });
}
