import {
  type DispatchEnvelope,
  definedOnly,
  type HansardError,
  isHansardError,
  shortened,
} from '@hansard/events';
import { formatCost, formatTime } from '@hansard/facts';
import {
  type CapturedEvent,
  type DispatchHost,
  type JsonObject,
  storeErrors,
  type ToolCall,
  type ToolOutcome,
  type ToolProvider,
} from '@hansard/provider';
import { combineTools, defineTool, type InputSchema, ToolRefusal } from '@hansard/provider/tools';
import { dispatchEnding, eventWords, wordsLine } from '@hansard/views';
import { z } from 'zod';

/** How a tool names a worker. */
const dispatchIdField = z.string().min(1).describe('The dispatchId that dispatch_agent returned.');

const dispatchAgentTool = dispatchTool({
  name: 'dispatch_agent',
  description:
    'Starts a worker: an agent with a task of its own that runs beside you. Answers at once with its dispatchId. Start several to have them work side by side, then use await_dispatch.',
  input: z.strictObject({
    role: z.string().min(1).describe('The role of the worker, such as "ts-dev".'),
    prompt: z
      .string()
      .min(1)
      .describe('The task of the worker with all necessary information: it does not see your conversation.'),
    agent: z.string().min(1).optional().describe('The agent to run. Absent: the same as you.'),
    model: z.string().min(1).optional().describe('Its model. Absent: yours.'),
    cwd: z.string().min(1).optional().describe('Its folder. Absent: yours.'),
    bot_id: z.string().min(1).optional().describe('The bot that the worker belongs to. Absent: none.'),
    output_schema: z
      .looseObject({})
      .optional()
      .describe('JSON Schema of the requested result. Absent: it answers in text.'),
  }),
  async run({ role, prompt, agent, model, cwd, bot_id, output_schema }, host, { toolCallId }) {
    const agents = host.listAgents();
    if (agent !== undefined && !agents.includes(agent)) {
      const known = agents.length === 0 ? 'Leave agent out.' : `There are: ${agents.join(', ')}.`;
      throw new ToolRefusal(`There is no agent ${JSON.stringify(agent)}. ${known}`);
    }
    const worker = await host.startWorker({
      role,
      prompt,
      toolCallId,
      ...definedOnly({
        agent,
        model,
        cwd,
        botId: bot_id,
        outputSchema: output_schema as JsonObject | undefined,
      }),
    });
    return {
      status: 'completed',
      text: `Started ${role}. dispatchId: ${worker.dispatchId}`,
      metadata: workerMetadata(worker),
    };
  },
});

/** A message fills the context of its reader, who did not ask for it. */
const mostMessageText = 20_000;

/** The most characters of results in all, some ten thousand tokens; several workers share it. */
const mostResultText = 40_000;

/** After its last text a worker may record costs, an abort or an error. */
const eventsWithResult = 20;

const awaitDispatchTool = dispatchTool({
  name: 'await_dispatch',
  description:
    'Waits until workers of yours have ended, all that you name, and answers with the status, cost and result of each.',
  input: z.strictObject({
    dispatch_ids: z
      .union([dispatchIdField, z.array(dispatchIdField).min(1).max(50)])
      .describe('The dispatchId of one worker, or a list of up to 50.'),
  }),
  async run({ dispatch_ids }, host, { signal }) {
    const ids = [...new Set([dispatch_ids].flat())];
    for (const id of ids) await getWorker(host, id);
    const ended = await Promise.all(ids.map((id) => host.awaitWorker(id, signal)));
    const limit = Math.floor(mostResultText / ended.length);
    const texts = await Promise.all(ended.map((worker) => resultText(host, worker, limit)));
    const [only, ...more] = ended.map(workerMetadata);
    return {
      status: 'completed',
      text: texts.join('\n\n'),
      metadata: more.length === 0 && only !== undefined ? only : { dispatches: ended.map(workerMetadata) },
    };
  },
});

const abortDispatchTool = dispatchTool({
  name: 'abort_dispatch',
  description:
    'Stops one of your workers, with those that it started itself. One that has ended stays as it is.',
  input: z.strictObject({
    dispatch_id: dispatchIdField,
    reason: z.string().min(1).max(1_000).optional().describe('The reason, for the log.'),
  }),
  async run({ dispatch_id, reason }, host) {
    await getWorker(host, dispatch_id);
    const worker = await host.abortWorker(dispatch_id, reason);
    return { status: 'completed', text: statusLine(worker), metadata: workerMetadata(worker) };
  },
});

const messageDispatchTool = dispatchTool({
  name: 'message_dispatch',
  description:
    'Sends a message to an agent that runs with you: a worker of yours, or the agent that started you. It reads the message as soon as it can, and may answer in the same way. Does not wait for an answer.',
  input: z.strictObject({
    to: z.string().min(1).describe('The dispatchId of the agent, or "parent" for the one that started you.'),
    text: z.string().min(1).max(mostMessageText).describe('The message. It has no other context.'),
  }),
  isForAll: true,
  async run({ to, text }, host, { toolCallId, agentId }) {
    try {
      const messageId = await host.send({ to, text, toolCallId, ...definedOnly({ agentId }) });
      return { status: 'completed', text: `Sent to ${to}.`, metadata: { to, messageId } };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const known = host
        .listReachable()
        .map(({ dispatchId, role, relation }) =>
          relation === 'parent' ? `parent (${role})` : `${dispatchId} (${role}, ${relation})`,
        );
      const there =
        known.length === 0
          ? 'There is nobody to write to now.'
          : `You can write to: ${known.slice(0, 20).join(', ')}.`;
      throw new ToolRefusal(`Not sent. ${error.message} ${there}`);
    }
  },
});

function isRefusal(error: unknown): error is HansardError {
  return (
    storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND') ||
    (isHansardError(error) &&
      ['DISPATCH_NOT_REACHABLE', 'DISPATCH_ENDED', 'DISPATCH_MESSAGE_LIMIT'].includes(error.code))
  );
}

/** About a thousand tokens in all: the answer must not fill the context of the caller. */
const limits = { perEvent: 300, inAll: 4_000 };

const checkDispatchTool = dispatchTool({
  name: 'check_dispatch',
  description:
    'Reports the state of one of your workers: its status, its cost after its end, and its last events, shortened. To wait for its end use await_dispatch instead of repeated checks.',
  input: z.strictObject({
    dispatch_id: dispatchIdField,
    events: z.int().min(0).max(50).default(10).describe('The number of its last events to return, 0 to 50.'),
  }),
  async run({ dispatch_id, events: count }, host) {
    const worker = await getWorker(host, dispatch_id);
    const events = count === 0 ? [] : await host.getRecentEvents(dispatch_id, count);
    const recent =
      events.length === 0 ? [] : ['last events, quoted from its log:', recentEventsText(events, limits)];
    return {
      status: 'completed',
      text: [statusLine(worker), ...recent].join('\n'),
      metadata: workerMetadata(worker),
    };
  },
});

/**
 * The tools with which an agent runs workers: `dispatch_agent`, `check_dispatch`, `await_dispatch`, `abort_dispatch` and
 * `message_dispatch`. A call that can't be carried out as it was made gets a result with `status: 'error'` that says what to change; what
 * the host throws is thrown on.
 */
export function createDispatchTools(): ToolProvider {
  return combineTools([
    dispatchAgentTool,
    checkDispatchTool,
    awaitDispatchTool,
    abortDispatchTool,
    messageDispatchTool,
  ]);
}

interface TextLimits {
  /** The most characters of one event. */
  readonly perEvent: number;
  /** The most characters in all. */
  readonly inAll: number;
}

/**
 * Events for a model, one on a line, oldest first. Where they are too long in all, the oldest are left out, and the
 * first line says how many.
 */
export function recentEventsText(events: readonly CapturedEvent[], { perEvent, inAll }: TextLimits): string {
  const lines: string[] = [];
  // The line about those left out is as long as can be where all are.
  let room = inAll - leftOutLine(events.length).length;
  for (const event of events.toReversed()) {
    const line = cutText(lineOf(event), perEvent);
    if (line.length + 1 > room) break;
    room -= line.length + 1;
    lines.unshift(line);
  }
  const leftOut = events.length - lines.length;
  return [...(leftOut === 0 ? [] : [leftOutLine(leftOut)]), ...lines].join('\n');
}

function lineOf(event: CapturedEvent): string {
  const { agent, word, head, status, text } = wordsLine(eventWords(event));
  return [formatTime(event.timestamp), agent, word, head, status, text]
    .filter((part) => part !== '')
    .join(' ');
}

function leftOutLine(count: number): string {
  return `[${count} older ${count === 1 ? 'event' : 'events'} left out]`;
}

async function resultText(host: DispatchHost, worker: DispatchEnvelope, limit: number): Promise<string> {
  const events = await host.getRecentEvents(worker.dispatchId, eventsWithResult);
  const { result, lastText, trouble } = dispatchEnding(worker, events);
  const structured = structuredResultLines(worker, limit);
  const words = structured.length > 0 && worker.status === 'completed' ? null : (result ?? lastText);
  const said = words === null ? [] : [`result: ${cutText(words, limit)}`];
  const troubled = trouble === null ? [] : [cutText(trouble, 1_000)];
  return [statusLine(worker), ...troubled, ...structured, ...said].join('\n');
}

interface DispatchToolParts<Input> {
  readonly name: string;
  readonly description: string;
  readonly input: InputSchema<Input>;
  /** The tool needs no workers. */
  readonly isForAll?: boolean;
  run(input: Input, host: DispatchHost, call: ToolCall): Promise<ToolOutcome>;
}

/** A tool that works with the dispatches that run with the calling one. */
function dispatchTool<Input>({ run, isForAll, ...parts }: DispatchToolParts<Input>): ToolProvider {
  const tool = defineTool({
    ...parts,
    // `callTool` below refuses calls without a host.
    run: (input: Input, call) => run(input, call.dispatches as DispatchHost, call),
  });
  return {
    ...tool,
    callTool(call) {
      if (call.dispatches?.mayStart || (call.dispatches && isForAll)) return tool.callTool(call);
      // Before the input is checked: without a host, no input helps.
      return {
        status: 'error',
        text: `${call.tool} works with workers, and this agent can have none: do the work yourself.`,
      };
    },
  };
}

/** A worker of the caller. @throws ToolRefusal that lists those that there are */
async function getWorker(host: DispatchHost, dispatchId: string): Promise<DispatchEnvelope> {
  try {
    return await host.getWorker(dispatchId);
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')) throw error;
    const workers = (await host.listWorkers()).slice(-mostListed);
    const known = workers.map((worker) => `${worker.dispatchId} (${worker.role}, ${worker.status})`);
    const there = known.length === 0 ? 'You have started none yet.' : `Yours are: ${known.join(', ')}.`;
    throw new ToolRefusal(`You have no worker ${JSON.stringify(shortened(dispatchId, 60))}. ${there}`);
  }
}

const mostListed = 20;

/** Which worker it is and how it stands, on one line. */
function statusLine({ dispatchId, role, status, cost }: DispatchEnvelope): string {
  return [`${role} ${dispatchId}: ${status}`, ...(cost === null ? [] : [formatCost(cost)])].join(', ');
}

/** The structured result on lines of its own; nothing where there is none. */
function structuredResultLines({ structuredResult }: DispatchEnvelope, limit: number): string[] {
  if (structuredResult === null) return [];
  return [`structured result: ${cutText(JSON.stringify(structuredResult), limit)}`];
}

/** What links the tool call with its worker. */
function workerMetadata({ dispatchId, status }: DispatchEnvelope): JsonObject {
  return { dispatchId, status };
}

/** The text, or its beginning with how much was cut off. No more than `limit` characters, and no half of a pair. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // The mark says at most how long the whole text is, so it fits whatever is cut.
  const room = Math.max(0, limit - cutMark(text.length).length);
  const end = isHighSurrogate(text.charCodeAt(room - 1)) ? room - 1 : room;
  return `${text.slice(0, end)}${cutMark(text.length - end)}`;
}

function cutMark(characters: number): string {
  return ` [${characters} characters cut]`;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
