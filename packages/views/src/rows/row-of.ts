import type {
  CapturedEvent,
  ContentPart,
  EventData,
  JsonObject,
  JsonValue,
  KnownEventType,
  OutputPart,
} from '@hansard/events';
import {
  isMediaPart,
  isPlainObject,
  isReadableAs,
  neutraliseControlsInLine,
  shownEvent,
  snapshotText,
} from '@hansard/events/plain';
import { sourceLabel } from '../agents/agent-label.ts';
import type { LogNode } from '../log/log-node.ts';
import { isNamedOnly } from '../log/saying.ts';
import { wordDiff } from '../session/word-diff.ts';
import { inputParts, isOneLine, objectParts } from './content/input-parts.ts';
import { describeEvent, type EventDescription } from './describe-event.ts';
import { isFactOfWork, isFailedRecord } from './noise.ts';
import type { RowReach } from './open-groups.ts';
import type { Row, RowCall, RowDecision, RowHearing, RowModel, RowPart, RowSpeaker } from './row.ts';
import type { RowAgents } from './row-agents.ts';
import {
  type GroupedDecision,
  type GroupedHearing,
  type RowGroup,
  saysSomething,
  textOf,
} from './row-group.ts';

/** The row of a group of events. */
export function rowOf(
  group: RowGroup,
  agents: RowAgents,
  { hasEnded = false }: Pick<RowReach, 'hasEnded'> = {},
): Row {
  const { position, agent, kind, main, inference, decisions, folded, events } = group;
  const event = shownEvent(agents.withSender(main.event));
  const described = describeEvent(event, (agentId) => agents.nameOf(agentId));
  const state = kind === 'call' ? callState(group, event, hasEnded) : eventState(event, described);
  return {
    position,
    id: group.id,
    timestamp: group.timestamp,
    kind,
    agent,
    ...state,
    events: [...events],
    ...(kind === 'message' && { from: speakerOf(event, agents) }),
    ...heardOf(group, agents),
    ...(decisions.length > 0 && { decisions: decisions.map(decisionOf) }),
    ...(inference !== null && inference !== main && { model: modelOf(inference.event.data) }),
    ...(kind === 'noise' && noiseState),
    ...(folded.length > 0 && { folded: folded.map(foldedOf) }),
  };
}

/** The states of a call without a result in a dispatch that has ended. */
const noResultOnRecord = 'no result on record';
const noResultNearby = 'no result nearby';

const noiseState = { word: 'harness', head: '', content: [], tone: 'dim', isFailed: false } as const;

type RowFacts = Pick<
  Row,
  'word' | 'head' | 'content' | 'tone' | 'isFailed' | 'status' | 'durationMs' | 'call'
>;

function callState(
  { result, decisions, isOutOfReach, folded }: RowGroup,
  event: CapturedEvent,
  hasEnded: boolean,
): RowFacts {
  const data = event.data as EventData<'agent:tool_call'>;
  const answer = result === null ? undefined : shownEvent(result.event).data;
  const isDenied = decisions.some(
    ({ event: { data } }) => data.on === 'tool_call' && data.decision === 'deny',
  );
  const unanswered = hasEnded ? (isOutOfReach ? noResultNearby : noResultOnRecord) : 'open';
  const status = isDenied ? 'denied' : (answer?.status ?? unanswered);
  const isFailed = status === 'denied' || status === 'error';
  const call: RowCall = {
    toolCallId: data.toolCallId,
    tool: data.tool,
    target: data.target ?? '',
    outcome: answer === undefined ? null : outcomeParts(withWholeOutput(withOwnFacts(answer, data), folded)),
  };
  return {
    word: 'call',
    head: isOneLine(data.target) ? `${data.tool} ${data.target}` : data.tool,
    content: inputParts(data),
    tone: isFailed ? 'bad' : 'plain',
    isFailed,
    status,
    ...(answer?.durationMs !== undefined && { durationMs: answer.durationMs }),
    call,
  };
}

/** A result without the facts that its call has, too. */
function withOwnFacts(
  result: EventData<'agent:tool_result'>,
  { metadata, input }: EventData<'agent:tool_call'>,
): EventData<'agent:tool_result'> {
  const given: JsonObject = { ...(isPlainObject(input) ? (input as JsonObject) : {}), ...metadata };
  const own = Object.entries(result.metadata).filter(
    ([name, value]) => (typeof value === 'object' && value !== null) || given[name] !== value,
  );
  return { ...result, metadata: Object.fromEntries(own) };
}

/** A result with the output that its engine kept in a file of its own; the last one, if the file has changed. */
function withWholeOutput(
  result: EventData<'agent:tool_result'>,
  folded: readonly LogNode[],
): EventData<'agent:tool_result'> {
  const output = folded.findLast(({ event }) => event.type === 'system:tool_output')?.event.data.output;
  return output === undefined ? result : { ...result, output };
}

function eventState(
  event: CapturedEvent,
  { kind, target, tone, status, durationMs, text }: EventDescription,
): RowFacts {
  const isRecord = event.type.startsWith('system:') && event.type !== 'system:notice';
  const isFailed = tone === 'bad' || (isRecord && isFailedRecord(event.type, event.data));
  return {
    word: kind,
    head: target,
    content: contentOf(event, text),
    tone: isFailed ? 'bad' : tone,
    isFailed,
    ...(status !== undefined && { status }),
    ...(durationMs !== undefined && { durationMs }),
  };
}

/** The content of any other event than a call. `words` describe it, and can be cut. */
function contentOf(event: CapturedEvent, words: string): RowPart[] {
  if (isReadableAs(event, 'agent:output')) return observedParts(event.data.parts);
  if (isReadableAs(event, 'agent:tool_result')) return outcomeParts(event.data);
  if (isReadableAs(event, 'session:complete')) return completeParts(event.data);
  if (isReadableAs(event, 'harness:hook_decision'))
    return [...(words === '' ? [] : [plain(words)]), ...madeParts(event.data)];
  if (isReadableAs(event, 'session:compaction')) {
    const { summary, ...others } = event.data;
    const facts = describeEvent({ ...event, data: others as JsonObject }).text;
    return [...(facts === '' ? [] : [plain(facts)]), ...(summary === undefined ? [] : [markdown(summary)])];
  }
  if (isReadableAs(event, 'harness:error')) {
    const { message, stack } = event.data;
    return stack === undefined
      ? [plain(message)]
      : [plain(message), { kind: 'text', label: 'stack', text: stack, style: 'code' }];
  }
  const { type, data } = event;
  if (isReadableAs(event, 'user:message') || isReadableAs(event, 'agent:undelivered'))
    return [...textParts(event.data.text), ...attachedParts(event.data.parts)];
  if (isProse(event)) return textParts(String(data.text));
  // A record of an unknown type, or one that a newer version wrote, is shown as it is.
  const isWhole = !type.startsWith('system:') && isInWords(event);
  return isWhole ? (words === '' ? [] : [plain(words)]) : [{ kind: 'json', value: data }];
}

function textParts(text: string): RowPart[] {
  return text === '' ? [] : [markdown(text)];
}

const prose: ReadonlySet<string> = new Set<KnownEventType>([
  'agent:text',
  'agent:thinking',
  'agent:system_prompt',
  'agent:piece_of_text',
  'agent:message_sent',
]);

function isProse(event: CapturedEvent): boolean {
  return prose.has(event.type) && isReadableAs(event, event.type as KnownEventType);
}

/** The types of events whose description has all of them. */
const inWords: ReadonlySet<string> = new Set<KnownEventType>([
  ...(['agent:rejected', 'harness:budget_reached', 'harness:model_retried'] as const),
  ...(['agent:created', 'agent:terminated', 'agent:revived', 'agent:given', 'agent:inference'] as const),
  ...(['session:init', 'session:rewind', 'session:fork'] as const),
  ...([
    'harness:loop_warning',
    'harness:loop_kill',
    'harness:stall',
    'harness:timeout',
    'harness:abort',
  ] as const),
  ...(['harness:approval_requested', 'harness:approval_given'] as const),
  ...(['harness:answer_stopped', 'harness:call_started', 'harness:answer_held'] as const),
]);

/** Whether the description of an event has all of it. */
function isInWords(event: CapturedEvent): boolean {
  if (!inWords.has(event.type)) return event.type === 'session:status' && isFactOfWork(event.data);
  // A call has an input, which is shown with it.
  if (event.type === 'agent:given' && event.data.toolCalls !== undefined) return false;
  return isReadableAs(event, event.type as KnownEventType);
}

function completeParts({
  result,
  reason,
  errors = [],
  structuredResult,
}: EventData<'session:complete'>): RowPart[] {
  const trouble = [reason ?? '', ...errors].filter(Boolean).join('\n');
  return [
    ...textParts(result ?? ''),
    ...(trouble === '' ? [] : [plain(trouble)]),
    ...(structuredResult === undefined
      ? []
      : [{ kind: 'json', label: 'structured result', value: structuredResult } as const]),
  ];
}

function speakerOf(event: CapturedEvent, agents: RowAgents): RowSpeaker {
  const { source } = event.data as EventData<'user:message'>;
  const { kind, agentId, dispatchId } = source;
  const label = sourceLabel(source);
  if (kind !== 'agent') return { kind, name: source.name ?? '', label };
  // The names of the agents of another dispatch are not known.
  if (dispatchId !== undefined)
    return { kind, name: [agentId, dispatchId].filter(Boolean).join(' of '), label };
  if (isNamedOnly(source)) return { kind, name: neutraliseControlsInLine(source.name), label };
  const known = agents.nameOf(agentId ?? '');
  return { kind, name: known === agentId ? (source.name ?? known) : known, label };
}

function heardOf(group: RowGroup, agents: RowAgents): Pick<Row, 'heard' | 'missing' | 'notKnown'> {
  if (!saysSomething(group) || group.hearings.length === 0) return {};
  const reached = new Set(
    group.hearings.flatMap(({ how, agent }) => (how === 'withheld' ? [] : agent.agentId)),
  );
  const unknown = new Set(group.notKnown ?? agents.notKnownOf(group));
  const others = group.company.filter((agentId) => !reached.has(agentId));
  const notKnown = others.filter((agentId) => unknown.has(agentId));
  return {
    heard: group.hearings.map((hearing) => hearingOf(hearing, textOf(group))),
    missing: others.flatMap((agentId) => (unknown.has(agentId) ? [] : agents.of(agentId))),
    ...(notKnown.length > 0 && { notKnown: notKnown.map((agentId) => agents.of(agentId)) }),
  };
}

function hearingOf({ agent, how, position, text }: GroupedHearing, said: string): RowHearing {
  const hearing = { agent, how, position };
  if (how === 'same' || text === null) return hearing;
  return how === 'altered' ? { ...hearing, text, differences: wordDiff(said, text) } : { ...hearing, text };
}

function decisionOf({ event, position, agent, verdict, instead }: GroupedDecision): RowDecision {
  const { data } = shownEvent(event);
  const { hook, on, decision, reason = '', given } = data;
  return {
    position,
    hook,
    on,
    decision,
    reason,
    agent,
    ...(given !== undefined && { given }),
    ...(verdict !== null && { verdict }),
    content: madeParts(data),
    ...(instead !== null && { instead }),
  };
}

function madeParts({ input, text }: EventData<'harness:hook_decision'>): RowPart[] {
  return [
    ...(input === undefined ? [] : [{ kind: 'json', label: 'new input', value: input } as const]),
    ...(text === undefined ? [] : [markdown(text, 'new text')]),
  ];
}

function modelOf({ model: name, usage, costUsd, durationMs }: EventData<'agent:inference'>): RowModel {
  return {
    name,
    usage,
    ...(costUsd !== undefined && { costUsd }),
    ...(durationMs !== undefined && { durationMs }),
  };
}

function foldedOf({ event, position }: RowGroup['folded'][number]): NonNullable<Row['folded']>[number] {
  const { kind, target, text } = describeEvent(event);
  const { id, timestamp, type, data } = event;
  const record = { position, id, timestamp, type };
  if (kind === 'engine') return { ...record, word: target, text };
  // The kind of a state says more than that it is one.
  const { kind: state, ...others } = data;
  if (isReadableAs(event, 'session:status') && typeof state === 'string')
    return {
      ...record,
      word: state.replaceAll(/[-_]/g, ' '),
      text: describeEvent({ ...event, data: others }).text,
    };
  return { ...record, word: kind, text: [target, text].filter(Boolean).join(' ') };
}

type Result = EventData<'agent:tool_result'>;

/** What came back from a call: its error, its output as text, images or JSON, and the recorded facts about it. */
function outcomeParts({ error, output, metadata, target }: Result): RowPart[] {
  const shown = output === undefined || output === null ? [] : outputParts(output);
  // An engine often repeats the error as the beginning of the output.
  const isRepeated = error !== undefined && outputText(shown[0]).startsWith(error.replace(/…$/, ''));
  const parts = [
    ...(error === undefined || isRepeated ? [] : [plain(error)]),
    ...shown,
    ...(shown.length === 0 ? [] : workParts(metadata)),
  ];
  // Facts of a full output are in it, or beside it in its engine's own words; a narrative has nothing else.
  return parts.length > 0 ? parts : objectParts(metadata as JsonObject, target);
}

/** What a call did for the work, in words: commits, pushes and pull requests, and an edit that a person changed. */
function workParts({ gitOperation, userModified }: JsonObject): RowPart[] {
  const { commit, push, pr, branch } = fieldsOf(gitOperation);
  const words = (name: string, value: JsonValue | undefined, ...keys: string[]) => {
    const fields = fieldsOf(value);
    const named = keys.flatMap((key) => (fields[key] == null ? [] : String(fields[key])));
    return named.length === 0 ? [] : [`${name} ${named.join(' ')}`];
  };
  return [
    ...words('commit', commit, 'sha', 'kind'),
    ...words('push to', push, 'branch'),
    ...words('branch', branch, 'ref', 'action'),
    ...words('pull request', pr, 'number', 'action', 'url'),
    ...(userModified === true ? ['A person changed this edit before it was made.'] : []),
  ].map((text) => plain(text));
}

function fieldsOf(value: JsonValue | undefined): JsonObject {
  return isPlainObject(value) ? (value as JsonObject) : {};
}

function outputText(part: RowPart | undefined): string {
  return part?.kind === 'text' ? part.text : '';
}

/** Recorded output: content blocks as what they contain. */
function outputParts(output: JsonValue): RowPart[] {
  if (typeof output === 'string') return output === '' ? [] : [plain(output)];
  if (Array.isArray(output) && output.length > 0 && output.every(isBlock)) return output.flatMap(blockParts);
  return isBlock(output) ? blockParts(output) : [{ kind: 'json', value: output }];
}

/** What is attached to a message: texts with their names, and images, documents and sounds. */
function attachedParts(parts: readonly ContentPart[] = []): RowPart[] {
  return parts.map((part): RowPart => {
    if (part.kind !== 'text') return { kind: 'media', media: part };
    return { kind: 'text', label: part.name ?? 'attached', text: part.text, style: 'plain' };
  });
}

/** The parts of an observed output. */
function observedParts(parts: readonly OutputPart[]): RowPart[] {
  return parts.map(observedPart);
}

function observedPart(part: OutputPart): RowPart {
  switch (part.kind) {
    case 'text':
      return plain(part.text);
    case 'json':
      return { kind: 'json', value: part.json };
    case 'image':
    case 'document':
    case 'audio':
      return { kind: 'media', media: part };
    case 'value':
      return { kind: 'text', text: snapshotText(part), style: 'code' };
    case 'repr':
      return { kind: 'text', text: part.repr, style: 'code' };
  }
}

function plain(text: string): RowPart {
  return { kind: 'text', text, style: 'plain' };
}

function markdown(text: string, label?: string): RowPart {
  return label === undefined
    ? { kind: 'text', text, style: 'markdown' }
    : { kind: 'text', label, text, style: 'markdown' };
}

type Block = JsonObject;

function isBlock(value: JsonValue): value is Block {
  return isPlainObject(value) && (typeof value.type === 'string' || isMediaPart(value) || isTextPart(value));
}

function isTextPart({ kind, text }: JsonObject): boolean {
  return kind === 'text' && typeof text === 'string';
}

function blockParts(block: Block): RowPart[] {
  const { type, text } = block;
  const keys = Object.keys(block).length;
  if (type === 'text' && typeof text === 'string' && keys === 2) return [markdown(text)];
  if (isMediaPart(block)) return [{ kind: 'media', media: block }];
  if (isTextPart(block)) return attachedParts([block as unknown as ContentPart]);
  return [{ kind: 'json', value: block }];
}
