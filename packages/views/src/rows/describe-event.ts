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
  contentLabel,
  isPlainObject,
  isReadableAs,
  isRemovedContent,
  shownEvent,
  snapshotText,
} from '@hansard/events/plain';
import { formatCost, formatCount, formatDuration, formatTokens, formatUsage } from '@hansard/facts';
import { sourceLabel } from '../agents/agent-label.ts';
import { isDispatchedAgent } from '../log/saying.ts';
import { fitColumns } from '../text/columns.ts';
import { compactJson, fieldsInWords } from '../text/compact-json.ts';
import { dispatchedAgent } from '../words/hearing-words.ts';
import type { Tone } from './row.ts';

const longest = 400;

const deepest = 2;

const longestList = 5;

/** References of an engine to its own records, which mean nothing to a reader. */
const reference = /uuid$|^session_?id$|tool_?use_?id$/i;

/** The fields that every record of a transcript has. */
const ofEveryRecord: ReadonlySet<string> = new Set([
  'isSidechain',
  'isMeta',
  'userType',
  'entrypoint',
  'cwd',
  'version',
  'gitBranch',
  'slug',
]);

/** An event in words. The texts are as recorded: pass them through `neutraliseControls` before printing. */
export interface EventDescription {
  readonly kind: string;
  readonly target: string;
  readonly text: string;
  readonly status?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly tone: Tone;
}

export const decisionTones = { allow: 'dim', deny: 'bad', alter: 'notice', retry: 'notice' } as const;

const decisionWords = { allow: 'allowed', deny: 'denied', alter: 'altered', retry: 'rejected' } as const;

const budgetWords = {
  costUsd: '',
  timeMs: '',
  tokens: ' tokens',
  calls: ' calls',
  agents: ' agents',
  depth: ' levels',
} as const;

/** The width of a column for kinds: the length of the longest kind of a known type. */
export const kindColumns = 8;

/** `system:KIND` that is not in the vocabulary: a record of an engine, as captured. */
const ofEngine = /^system:(.+)$/s;

/** The name to show for an agent of the dispatch, by its id. */
type NameAgent = (agentId: string) => string;

type Describers = {
  readonly [T in KnownEventType]: (data: EventData<T>, nameAgent: NameAgent) => EventDescription;
};

const describers: Describers = {
  'agent:created': ({ name, languageModel, hook }) =>
    row('created', 'notice', {
      target: inWords(name, hook === undefined ? '' : `for the hook ${hook}`),
      text: languageModel,
    }),
  'agent:given': ({ role, text = '', toolCalls = [], tool, output }) =>
    row('given', 'dim', {
      target: role === 'tool' ? inWords(role, tool) : role,
      text: inWords(
        text,
        output === undefined ? '' : typeof output === 'string' ? output : JSON.stringify(output),
        toolCalls.length === 0 ? '' : `calls ${toolCalls.map((call) => call.tool).join(', ')}`,
      ),
    }),
  'agent:terminated': ({ reason }) => row('ended', 'notice', { text: reason }),
  'agent:revived': ({ reason, missed, missingTools = [] }) =>
    row('revived', missingTools.length > 0 ? 'bad' : 'notice', {
      text: inWords(
        reason,
        missed.length === 0 ? '' : `${formatCount(missed.length, 'message')} not heard`,
        missingTools.length === 0 ? '' : `without its tools: ${missingTools.join(', ')}`,
      ),
    }),
  'agent:undelivered': ({ text, source }, nameAgent) =>
    row('missed', 'bad', { target: `from ${senderInWords(source, nameAgent)}`, text }),
  'agent:system_prompt': ({ text, outcomesOf }) =>
    row('system', 'dim', {
      target:
        outcomesOf === undefined
          ? ''
          : `outcomes of ${formatCount(outcomesOf.length, 'earlier dispatch', 'earlier dispatches')}`,
      text,
    }),
  'agent:text': ({ text }) => row('text', 'plain', { text }),
  'agent:rejected': ({ hook, retry }) =>
    row('rejected', 'notice', {
      target: hook === undefined ? '' : `by the hook ${hook}`,
      text: retry ? 'nobody received the answer, and the agent answers again' : 'nobody received the answer',
    }),
  'agent:thinking': ({ text }) => row('thinking', 'dim', { text }),
  'agent:tool_call': (data) =>
    row('call', 'plain', {
      target: toolAndTarget(data),
      text: data.target === undefined ? argumentsOf(data) : '',
    }),
  'agent:tool_result': (data) =>
    row('result', data.status === 'error' ? 'bad' : 'good', {
      target: toolAndTarget(data),
      text: data.error ?? (fieldsInWords(data.metadata, data.target) || outputInWords(data.output)),
      status: data.status,
      durationMs: data.durationMs,
    }),
  'agent:piece_of_text': ({ text }) => row('piece', 'plain', { text }),
  'agent:inference': ({ model, durationMs, usage, costUsd, stopReason }) =>
    row('model', 'dim', {
      target: model,
      text: inWords(formatUsage(usage), costUsd === undefined ? '' : formatCost(costUsd), stopReason),
      durationMs,
    }),
  'agent:message_sent': ({ text, to: { dispatchId, agent } }) => {
    const receiver = [agent === '' ? dispatchedAgent : agent, dispatchId].filter(Boolean).join(' of ');
    return row('sent', 'notice', { target: `to ${receiver}`, text });
  },
  'agent:output': ({ parts }) => row('output', 'plain', { text: parts.map(partInWords).join('\n') }),

  'user:message': ({ text, source, parts = [] }, nameAgent) =>
    row('message', 'notice', {
      target: `from ${senderInWords(source, nameAgent)}`,
      text: [text, ...parts.map(attachedInWords)].filter(Boolean).join(' '),
    }),

  'content:stored': (data) =>
    row('content', 'dim', {
      text: `${formatCount(data.size, 'byte')}, sha256 ${data.sha256}${isRemovedContent(data) ? ', removed' : ''}`,
    }),

  'request:stored': ({ tools, parameters }) =>
    row('request', 'dim', {
      text: inWords(
        tools && `${formatCount(tools.length, 'tool')}: ${tools.map(({ name }) => name).join(', ')}`,
        parameters && fieldsInWords(parameters, undefined),
      ),
    }),

  'session:init': ({ model, sessionId, cwd, tools }) =>
    row('init', 'dim', {
      target: model,
      text: inWords(`session ${sessionId}`, cwd, tools && formatCount(tools.length, 'tool')),
    }),
  'session:complete': (data) =>
    row('complete', data.status === 'completed' ? 'good' : 'bad', {
      text: outcomeInWords(data),
      status: data.status,
      durationMs: data.durationMs,
    }),
  'session:compaction': ({ trigger, preTokens, postTokens, summary }) =>
    row('compact', 'notice', {
      text: inWords(
        trigger,
        preTokens === undefined ? '' : `from ${formatTokens(preTokens)} tokens`,
        postTokens === undefined ? '' : `to ${formatTokens(postTokens)} tokens`,
        summary,
      ),
    }),
  'session:rewind': ({ keptThrough }) =>
    row('rewind', 'notice', {
      text: keptThrough === null ? 'back to the beginning of the transcript' : backTo(keptThrough),
    }),
  'session:fork': ({ from, kind, through }) =>
    row('fork', 'notice', {
      target: `of ${from.product} ${from.sessionId}`,
      text: inWords(kind, through === undefined ? '' : `begins after its record ${through}`),
    }),
  'session:rate_limit': (data) => row('limit', 'notice', { text: recordInWords(data) }),
  'session:status': (data) => {
    const { status, ...others } = data;
    if (data.kind === 'moved') return row('moved', 'plain', { text: movedInWords(data.from, data.to) });
    if (data.kind === 'pr-link') return row('linked', 'plain', { text: linkInWords(data) });
    const words = [typeof status === 'string' ? status : '', recordInWords(others)];
    return row('status', 'dim', { text: words.filter(Boolean).join(' ') });
  },

  'harness:loop_warning': (data) => row('loop', 'notice', loopInWords(data)),
  'harness:loop_kill': (data) => row('loop', 'bad', { ...loopInWords(data), status: 'killed' }),
  'harness:stall': ({ idleMs, limitMs }) =>
    row('stall', 'bad', {
      text: `nothing for ${formatDuration(idleMs)} (limit ${formatDuration(limitMs)})`,
    }),
  'harness:timeout': ({ elapsedMs, limitMs }) =>
    row('timeout', 'bad', {
      text: `ran for ${formatDuration(elapsedMs)} (limit ${formatDuration(limitMs)})`,
    }),
  'harness:abort': ({ reason, by }) => row('abort', 'bad', { target: by && `by ${by}`, text: reason }),
  'harness:error': ({ message, code }) => row('error', 'bad', { target: code, text: message }),
  'harness:hook_decision': (data) =>
    row('hook', decisionTones[data.decision], { target: decisionInWords(data), text: data.reason }),
  'harness:approval_requested': (data) =>
    row('asked', 'notice', { target: requestInWords(data), text: askedInWords(data) }),
  'harness:approval_given': (data) =>
    row('answered', data.decision === 'refuse' ? 'bad' : 'plain', {
      target: answerInWords(data),
      text: answerTextOf(data),
    }),
  'harness:answer_stopped': ({ by, reason, messageId }) =>
    row('stopped', 'notice', {
      target: `by ${by}`,
      text: inWords(reason, messageId === undefined ? '' : 'what had been said is kept'),
    }),
  'harness:budget_reached': ({ scope, what, limit, spent, isSpent }) => {
    const amount = (count: number) =>
      what === 'costUsd' ? formatCost(count) : what === 'timeMs' ? formatDuration(count) : String(count);
    return row('budget', isSpent ? 'bad' : 'notice', {
      target: `of the ${scope}`,
      text: inWords(
        `${amount(spent)} of ${amount(limit)}${budgetWords[what]}`,
        isSpent ? 'spent' : 'nearly spent',
      ),
    });
  },
  'harness:model_retried': ({ message, attempt, model, next, delayMs }) =>
    row('retry', 'notice', {
      target: inWords(`attempt ${attempt}`, model),
      text: inWords(message, next === model ? '' : `then with ${next}`, `after ${formatDuration(delayMs)}`),
    }),
  'harness:call_started': () => row('started', 'dim', { text: 'the approved call is made' }),
  'harness:answer_held': () => row('held', 'dim', { text: 'hooks are asked about the answer' }),

  'system:files_persisted': (data) => observed('files', data),
  'system:hook_started': (data) => observed('hook', data, 'started'),
  'system:hook_progress': (data) => observed('hook', data, 'progress'),
  'system:hook_response': (data) => observed('hook', data, 'response'),
  'system:task_started': (data) => observed('task', data, 'started'),
  'system:task_progress': (data) => observed('task', data, 'progress'),
  'system:task_updated': (data) => observed('task', data, 'updated'),
  'system:task_notification': (data) => observed('task', data, 'notification'),
  'system:notice': (data) => row('notice', 'dim', { text: fieldsInWords(data) }),
};

/**
 * Describes an event in words. An event of an unknown type, or of a known type whose data has another shape (written by a
 * newer version), is described by its type and its data as JSON, and a record of an engine by its fields. `nameAgent` gives
 * the names of the agents that the event mentions; absent: their ids.
 */
export function describeEvent(
  event: CapturedEvent,
  nameAgent: NameAgent = (agentId) => agentId,
): EventDescription {
  const { type, data } = shownEvent(event);
  if (!isKnownType(type) || !isReadableAs(event, type)) {
    const record = ofEngine.exec(type)?.[1];
    return record === undefined
      ? row(type, 'plain', { text: compactJson(data) })
      : observed('engine', data, record.replaceAll('_', ' '));
  }
  const describe = describers[type] as (data: JsonObject, nameAgent: NameAgent) => EventDescription;
  return describe(data, nameAgent);
}

/** A rewind to an event, by its address. */
export function backTo(address: string | number): string {
  return `back to ${address}, which is the last event that the agent keeps`;
}

/** What a hook decided: `limits denied the tool call`, `secrets altered the delivery`. */
export function decisionInWords({
  hook,
  on,
  decision,
}: Pick<EventData<'harness:hook_decision'>, 'hook' | 'on' | 'decision'>): string {
  return `${hook} ${decisionWords[decision]} the ${on.replaceAll('_', ' ')}`;
}

/** Who asked for which call: `limits asked a person about Bash`. */
function requestInWords({ by, tool, kind }: EventData<'harness:approval_requested'>): string {
  return kind === 'question' ? `${by} asked a person` : `${by} asked a person about ${tool}`;
}

function askedInWords(data: EventData<'harness:approval_requested'>): string {
  const { reason, choices, deadline, input } = data;
  const until = deadline === undefined ? '' : `until ${deadline}, then ${data.default ?? 'refuse'}`;
  const others = input === undefined ? '' : `with ${compactJson(input)}`;
  return inWords(reason, choices?.join(' | '), until, others);
}

/** Who decided what: `user approved, for the whole session`. */
function answerInWords(data: EventData<'harness:approval_given'>): string {
  const { by, decision, answer, scope, earlier } = data;
  const did = decision === 'refuse' ? 'refused' : answer === undefined ? 'approved' : 'answered';
  if (earlier !== undefined) return `${by} ${did}, as before in this session`;
  return scope === 'session' ? `${by} ${did}, for the whole session` : `${by} ${did}`;
}

function answerTextOf({ answer, note, input }: EventData<'harness:approval_given'>): string {
  return inWords(answer, note, input === undefined ? '' : `with ${compactJson(input)}`);
}

/** The outcome of a dispatch by its `session:complete`: the result, and the reason and errors of a failure. */
export function outcomeInWords({
  status,
  result,
  reason,
  errors = [],
}: EventData<'session:complete'>): string {
  const trouble = inWords(reason, ...errors);
  if (status === 'completed') return result ?? trouble;
  return [result, trouble].filter(Boolean).join('\n');
}

function isKnownType(type: string): type is KnownEventType {
  return Object.hasOwn(describers, type);
}

interface Words {
  readonly target?: string | undefined;
  readonly text?: string | undefined;
  readonly status?: string;
  readonly durationMs?: number | undefined;
}

function row(kind: string, tone: Tone, { target = '', text = '', ...rest }: Words): EventDescription {
  return { kind, target, text, ...rest, tone };
}

/** A change of the folder or the branch that a session works in. */
function movedInWords(from: JsonValue | undefined, to: JsonValue | undefined): string {
  const [before, after] = [from, to].map((value) => (isPlainObject(value) ? (value as JsonObject) : {}));
  return Object.entries(after ?? {})
    .map(([key, value]) => `${key} ${String(before?.[key] ?? 'not recorded')} → ${String(value ?? 'none')}`)
    .join(', ');
}

function linkInWords({ prNumber, prRepository, prUrl }: JsonObject): string {
  const words = [`pull request ${String(prNumber ?? '')}`, prRepository && `of ${prRepository}`, prUrl];
  return words.filter((word) => typeof word === 'string' && word !== '').join(' ');
}

function observed(kind: string, data: JsonObject, target = ''): EventDescription {
  return row(kind, 'dim', { target, text: recordInWords(data) });
}

function inWords(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join(', ');
}

function senderInWords(source: EventData<'user:message'>['source'], nameAgent: NameAgent): string {
  const { agentId, dispatchId, name } = source;
  if (isDispatchedAgent(source)) return dispatchedAgent;
  // The names of the agents of another dispatch are not known.
  const known = agentId === undefined || dispatchId !== undefined ? agentId : nameAgent(agentId);
  const agent = known === agentId ? known : undefined;
  return [sourceLabel(source), known === agentId ? name : known, agent, dispatchId].filter(Boolean).join(' ');
}

function toolAndTarget({ tool, target }: { readonly tool: string; readonly target?: string | undefined }) {
  return target === undefined ? tool : `${tool} ${target}`;
}

function argumentsOf({ input, metadata }: EventData<'agent:tool_call'>): string {
  return input === undefined ? fieldsInWords(metadata) : compactJson(input);
}

/** Only a log of fidelity `full` has outputs. */
function outputInWords(output: JsonValue = ''): string {
  return typeof output === 'string' ? output : compactJson(output);
}

function loopInWords(data: EventData<'harness:loop_warning'>): Words {
  const { calls = [data], count, window, limit } = data;
  return {
    target: calls.map(toolAndTarget).join(', '),
    text: `${count} times in the last ${window} calls (limit ${limit})`,
  };
}

function attachedInWords(part: ContentPart): string {
  return part.kind === 'text' ? inWords(part.name, part.text) : contentLabel(part);
}

function partInWords(part: OutputPart): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'json':
      return compactJson(part.json);
    case 'image':
    case 'document':
    case 'audio':
    case 'value':
    case 'repr':
      return snapshotText(part);
  }
}

/**
 * A record of an engine as `state running, attempt 1`, at most 400 columns: its fields and those of nested objects, short
 * lists in full, the length of longer ones. Bookkeeping and empty fields are left out; the event has them.
 */
function recordInWords(record: JsonObject): string {
  const own =
    'parentUuid' in record
      ? Object.fromEntries(Object.entries(record).filter(([key]) => !ofEveryRecord.has(key)))
      : record;
  // A nested object can repeat fields of the object around it.
  return fitColumns([...new Set(fieldsOf(own, 0))].join(', '), longest);
}

function fieldsOf(record: JsonObject, depth: number): string[] {
  return Object.entries(record).flatMap(([key, value]) => {
    if (value === undefined || value === null || value === '' || reference.test(key)) return [];
    if (isPlainObject(value)) return depth < deepest ? fieldsOf(value as JsonObject, depth + 1) : `${key} …`;
    return `${key} ${Array.isArray(value) ? listInWords(value) : String(value)}`;
  });
}

function listInWords(list: readonly JsonValue[]): string {
  const isShort = list.length > 0 && list.length <= longestList;
  return isShort && list.every(isWord) ? list.join(' ') : String(list.length);
}

function isWord(value: JsonValue): boolean {
  return typeof value === 'string' || typeof value === 'number';
}
