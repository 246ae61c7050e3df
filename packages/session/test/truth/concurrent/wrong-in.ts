import { type CapturedEvent, isEventOf } from '@hansard/events';
import { compareContexts, renderCalls } from '@hansard/prompt';
import { createLogIndex, hearingMatrix, neverHeard } from '@hansard/views';
import { type Called, type ConcurrentlyPlayed, flagOf, judged, type Sent } from './played.ts';
import { promptAt, TrueCourse } from './true-course.ts';

/** How many of each were compared. */
export interface ConcurrentCounts {
  prompts: number;
  transcripts: number;
  cells: number;
  negatives: number;
  repeats: number;
  answers: number;
  approvals: number;
  forks: number;
}

/** Everything that differs from what the threads of the program did, in words. */
export function wrongIn(played: ConcurrentlyPlayed, counts: ConcurrentCounts): string[] {
  const wrong: string[] = [...played.wrong];
  const always = Number.MAX_SAFE_INTEGER;
  for (const agentId of played.agentIds) {
    const course = new TrueCourse(played.events, played.called, agentId);
    const sent = played.sent.filter((one) => one.agentId === agentId);
    counts.prompts += course.found.length;
    wrong.push(...course.wrong, ...outside(`the log of ${agentId}`, sent, course.messages, always, always));
    for (const { call, messages } of course.found)
      wrong.push(...outside(`call ${call.number}`, sent, messages, call.askedAt, call.calledAt));
    const { queue, calls, open, isToRetry } = course.last;
    const awaits = queue.length > 0 || open > 0 || calls.length > 0 || isToRetry;
    if (played.awaiting.get(agentId) !== awaits)
      wrong.push(`${agentId} does not await a response as it should: ${awaits}`);
    wrong.push(
      ...wrongTranscripts(played, agentId, course, sent, counts),
      ...wrongForks(played, agentId, course, counts),
    );
  }
  return [
    ...wrong,
    ...wrongAnswers(played, counts),
    ...wrongApprovals(played, counts),
    ...wrongRepeats(played, counts),
    ...wrongCells(played, counts),
  ];
}

/** A transcript is what the agent had after an event, with all that was recorded before it was asked for. */
function wrongTranscripts(
  { read }: ConcurrentlyPlayed,
  agentId: string,
  { history, messages }: TrueCourse,
  sent: readonly Sent[],
  counts: ConcurrentCounts,
): string[] {
  return read.flatMap(({ agentId: of, lines, startedAt, endedAt }) => {
    if (of !== agentId) return [];
    counts.transcripts += 1;
    const where = `a transcript of ${agentId}`;
    const words = lines.join('\n');
    const alike = history.filter(({ transcript }) => transcript.join('\n') === words);
    if (alike.length === 0) return [`${where}: ${lines.join(' | ')}, which it never was`];
    const found = alike.map((stood) =>
      outside(where, sent, messages.slice(0, stood.messages), startedAt, endedAt),
    );
    return found.some((faults) => faults.length === 0) ? [] : (found[0] ?? []);
  });
}

/** In a fork an agent is given what it had there. */
function wrongForks(
  { forked, events }: ConcurrentlyPlayed,
  agentId: string,
  { history }: TrueCourse,
  counts: ConcurrentCounts,
): string[] {
  return forked.flatMap(({ at, agentId: of, prompt }) => {
    if (of !== agentId) return [];
    counts.forks += 1;
    const position = events.findIndex(({ id }) => id === at);
    const stood = history.findLast((one) => one.position <= position);
    const expected = stood === undefined ? [] : promptAt(stood);
    return expected.join('\n') === prompt.join('\n')
      ? []
      : [`in a fork at ${at} ${agentId} was given ${prompt.join(' | ')}, not ${expected.join(' | ')}`];
  });
}

/** Each answer of a model is said as hooks left it, rejected, or stopped in the middle. */
function wrongAnswers({ events, called, shown }: ConcurrentlyPlayed, counts: ConcurrentCounts): string[] {
  const calls = new Map(called.map((call) => [call.number, call]));
  const stopped = new Set(
    events.flatMap((one) => (one.type === 'harness:answer_stopped' ? [one.data.messageId] : [])),
  );
  const secret = new Set<string>();
  const wrong = events.flatMap((event) => {
    const isText = isEventOf(event, 'agent:text');
    if (!isText && !isEventOf(event, 'agent:rejected')) return [];
    const { text } = event.data;
    const call = calls.get(Number(/ n(\d+)$/.exec(text)?.[1]));
    if (call === undefined) return [`no call said ${text}`];
    counts.answers += 1;
    const { said, reply } = call;
    if (stopped.has(event.messageId))
      return text === said || text === reply ? [] : [`a stopped answer is ${text}`];
    // Its process died before hooks had decided.
    if (!isText && event.data.hook === undefined) return text === reply ? [] : [`${text} was not checked`];
    const isRejected = flagOf(reply ?? '') === 'deny' || flagOf(reply ?? '') === 'retry';
    if (call.isJudged && !call.hasCalls && isRejected === isText) return [`${text} is ${event.type}`];
    if (!isText && !call.isJudged) return [`nobody was asked about ${text}, and it was rejected`];
    const expected = call.isJudged && isText ? judged(reply ?? '') : reply;
    return text === expected ? [] : [`${text} was recorded for ${reply}`];
  });
  const recorded = new Set(events.map((event) => / n(\d+)$/.exec(String(event.data.text))?.[1]));
  for (const { isJudged, hasCalls, reply, number } of called)
    if (isJudged && !hasCalls && !recorded.has(`${number}`)) wrong.push(`${reply} is not in the log`);
  for (const { isJudged, hasCalls, reply } of called)
    if (isJudged && !hasCalls && reply !== null && flagOf(reply) !== null)
      for (const [mark] of reply.matchAll(/\(\w+ s\d+\)/g)) secret.add(mark);
  const leaked = [...secret].filter((mark) => shown.includes(mark));
  return [...wrong, ...leaked.map((mark) => `surfaces were shown ${mark}`)];
}

/** Calls that wait for a person are made at most once, as the first answer in the log says, and never without one. */
function wrongApprovals({ events, given, entered }: ConcurrentlyPlayed, counts: ConcurrentCounts): string[] {
  return events.flatMap((call) => {
    if (!isEventOf(call, 'agent:tool_call')) return [];
    const { toolCallId, tool, input } = call.data;
    const waits = tool === 'sign' || tool === 'consult';
    const of = events.filter((event) => event.data.toolCallId === toolCallId);
    const results = of.filter((event) => isEventOf(event, 'agent:tool_result'));
    const entries = entered.filter((one) => one.toolCallId === toolCallId);
    if (results.length > 1) return [`${toolCallId} has ${results.length} results`];
    if (!waits) return [];
    counts.approvals += 1;
    const answer = of.find((event) => isEventOf(event, 'harness:approval_given'));
    const wrong =
      entries.length > 1 || (tool === 'consult' && entries.length > 0) ? ['entered too often'] : [];
    if (answer === undefined) {
      if (entries.length > 0) wrong.push('entered without an answer');
    } else {
      const sent = given.find(({ callId, note }) => callId === call.id && note === answer.data.note);
      const { decision, input: other = input, answer: words, note } = sent ?? {};
      const [result] = results;
      if (sent === undefined || decision !== answer.data.decision) wrong.push('answered by nobody');
      if (entries.some((one) => JSON.stringify(one.input) !== JSON.stringify(other)))
        wrong.push(`entered with ${JSON.stringify(entries)}, not ${JSON.stringify(other)}`);
      if (decision !== 'approve' && entries.length > 0) wrong.push('entered although it was refused');
      const said = { sign: `signed ${JSON.stringify(other)}`, consult: words }[tool];
      const expected = decision === 'approve' ? said : `Error: Refused by user: ${note}`;
      const isOver =
        result === undefined ||
        /^(?:interrupted|Error: not called|The call was interrupted)/.test(String(result.data.output));
      if (!isOver && result.data.output !== expected)
        wrong.push(`has ${result.data.output}, not ${expected}`);
    }
    return wrong.map((words) => `${toolCallId} of ${tool}: ${words}`);
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
    const again = messages.map((message) => {
      const files = 'files' in message ? (message.files ?? []) : [];
      return `${message.role}: ${message.text}${files.map(({ sha256 }) => ` +${sha256}`).join('')}`;
    });
    if (again.join('\n') !== prompts.get(number))
      return [`call ${number} of ${agentId} renders to another prompt`];
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
      const isNegative = never.includes(`${agentId} never`);
      counts.negatives += Number(isNegative);
      // A log with few links does not show that it records all deliveries.
      const isListed = isNegative || never.includes(`${agentId} not known`);
      return isListed === isSilent ? [] : [`${where}: never heard is not ${isSilent}`];
    });
  });
}
