import type { CapturedEvent, JsonObject } from '@hansard/events';
import { asName, asObject, recordedTime } from '../lines/json-fields.ts';
import type { LogPart } from '../lines/log-parts.ts';
import { asBlocks, isToolResult } from '../map/blocks.ts';
import { asId } from '../map/ids.ts';
import { noModel } from '../map/model-message.ts';
import { isCountable } from '../map/usage.ts';

/** A line that was read; of a record that is broken over lines, the first. */
export interface ReadLine {
  /** The number of the file. */
  readonly file: number;
  /** Bytes and lines before it. */
  readonly offset: number;
  readonly line: number;
  /** Counts lines in the order in which they were read, over all files. */
  order: number;
  /** The latest time of its records, in milliseconds since 1970. */
  time: number;
}

const mostOfSession = 32;
const mostOfAgent = 8;

/** The latest lines of a file. */
class LineWindow {
  readonly lines: ReadLine[] = [];
  /** The latest time of the lines before. */
  horizon = Number.NEGATIVE_INFINITY;
  readonly #most: number;
  #isClosed = false;

  constructor(isSession: boolean) {
    this.#most = isSession ? mostOfSession : mostOfAgent;
  }

  add(line: ReadLine): void {
    if (this.#isClosed || this.lines.at(-1) === line) return;
    this.lines.push(line);
    if (this.lines.length > this.#most)
      this.horizon = Math.max(this.horizon, this.lines.shift()?.time ?? this.horizon);
  }

  /** Drops all lines, because no later record is expected. */
  close(): void {
    this.#isClosed = true;
    this.lines.length = 0;
    this.horizon = Number.MAX_VALUE;
  }
}

/** Whether the model message of a record, '' without an id, is counted already. */
type IsCounted = (messageId: string) => boolean;

/** An agent, and the call that started it. */
interface StartedAgent {
  readonly agent: string;
  readonly toolCallId: string;
}

/** The lines of a sub-agent that has not reported yet. */
interface AgentLines {
  isBegun: boolean;
  isLinked: boolean;
  /** Its call, the record that names it, and its first record. */
  readonly first: ReadLine[];
  /** Its last text or tool call, which decides about its answer. */
  latest: ReadLine | undefined;
}

/**
 * The lines of a session that may still matter to later records: the latest of each file, calls without a result, messages
 * that may continue, and those that began a sub-agent which has not reported. A later reading maps them again, instead of
 * keeping the state of the mapping, which holds content.
 */
export class NeededLines {
  readonly #windows: readonly LineWindow[];
  /** The number of a sub-agent's file, by agent. */
  readonly #files: ReadonlyMap<string, number>;
  readonly #calls = new Map<string, ReadLine>();
  /** The agents that a call started, as the files beside their records say. */
  readonly #started: ReadonlyMap<string | undefined, readonly string[]>;
  readonly #agents = new Map<string, AgentLines>();
  readonly #reported: Set<string>;
  readonly #isCounted: IsCounted;
  /** By agent and message; '' is the dispatched agent, or a message without an id. */
  readonly #messages = new Map<string, Map<string, ReadLine[]>>();
  #hasThreads = false;

  /**
   * `agents`: the agent of each file; undefined for the file of the session. `starts`: agents with the calls that started
   * them, as the files beside their records say.
   */
  constructor(
    agents: readonly (string | undefined)[],
    starts: readonly StartedAgent[],
    isCounted: IsCounted,
    reported: Iterable<string> = [],
  ) {
    const byCall = Map.groupBy(starts, ({ toolCallId }) => toolCallId);
    this.#started = new Map([...byCall].map(([call, started]) => [call, started.map(({ agent }) => agent)]));
    this.#isCounted = isCounted;
    this.#windows = agents.map((agent) => new LineWindow(agent === undefined));
    this.#files = new Map(agents.flatMap((agent, at) => (agent === undefined ? [] : [[agent, at] as const])));
    this.#reported = new Set(reported);
    for (const agent of this.#reported) this.#close(agent);
  }

  get reported(): readonly string[] {
    return [...this.#reported];
  }

  /** The messages that are not counted yet, each as agent and message. */
  get openMessages(): string[] {
    return [...this.#messages].flatMap(([agent, messages]) =>
      [...messages.keys()].map((message) => `${agent} ${message}`),
    );
  }

  /** The sub-agents that have not reported. */
  get openAgents(): string[] {
    return [...this.#agents.keys()];
  }

  /** The calls without a result. */
  get openCalls(): string[] {
    return [...this.#calls.keys()];
  }

  /** Drops calls and messages other than these: of some, the line that ended them was not read again. */
  retain(calls: ReadonlySet<string>, messages: ReadonlySet<string>): void {
    for (const call of this.#calls.keys()) if (!calls.has(call)) this.#calls.delete(call);
    for (const [agent, ofAgent] of this.#messages)
      for (const message of ofAgent.keys()) if (!messages.has(`${agent} ${message}`)) ofAgent.delete(message);
  }

  /** The latest time of the records that are not among the lines, of a file. */
  horizonOf(file: number): number {
    return this.#windows[file]?.horizon ?? Number.NEGATIVE_INFINITY;
  }

  /** Sets that time, after the lines of an earlier reading were read again. Null: there is none. */
  setHorizon(file: number, horizon: number | null): void {
    const window = this.#windows[file];
    if (window !== undefined) window.horizon = horizon ?? Number.NEGATIVE_INFINITY;
  }

  /** Takes the next part of a line, the sub-agent whose result it is, and its events. */
  observe(
    line: ReadLine,
    part: LogPart,
    reporting: string | undefined,
    events: readonly CapturedEvent[],
  ): void {
    const record = part.kind === 'record' ? asObject(part.record) : undefined;
    this.#windows[line.file]?.add(line);
    if (record !== undefined) {
      line.time = Math.max(line.time, recordedTime(record) ?? line.time);
      this.#hasThreads ||= record.isSidechain === true && asName(record.agentId) === undefined;
      this.#link(line, record);
      if (events.length > 0) this.#hear(line, record, events[0]?.agentId);
    }
    for (const event of events) this.#note(line, event);
    const agent = asId(reporting);
    if (agent === undefined) return;
    this.#reported.add(agent);
    this.#agents.delete(agent);
    this.#close(agent);
  }

  /** The lines in the order in which they were read; null if there are too many, or if a thread of records is an agent. */
  collect(): ReadLine[] | null {
    if (this.#hasThreads) return null;
    const lines = new Set<ReadLine>(this.#calls.values());
    for (const window of this.#windows) for (const line of window.lines) lines.add(line);
    for (const { first, latest } of this.#agents.values())
      for (const line of [...first, latest]) if (line !== undefined) lines.add(line);
    for (const messages of this.#messages.values())
      for (const ofMessage of messages.values()) for (const line of ofMessage) lines.add(line);
    return lines.size > mostLines ? null : [...lines].sort((one, other) => one.order - other.order);
  }

  #close(agent: string): void {
    this.#windows[this.#files.get(agent) ?? -1]?.close();
  }

  /** Notes the record that first names a sub-agent and its call. */
  #link(line: ReadLine, record: JsonObject): void {
    const output = asObject(record.toolUseResult);
    const progress = record.type === 'progress' ? asObject(record.data) : undefined;
    const agent = asId(output?.agentId ?? progress?.agentId);
    if (agent === undefined || this.#reported.has(agent)) return;
    const lines = this.#linesOf(agent);
    if (lines.isLinked) return;
    lines.isLinked = true;
    const result = asBlocks(asObject(record.message)?.content)?.find(isToolResult);
    const called = this.#calls.get(asName(result?.tool_use_id ?? record.parentToolUseID) ?? '');
    if (called !== undefined) lines.first.push(called);
    lines.first.push(line);
  }

  /** Notes a line of a model message that is not counted yet. */
  #hear(line: ReadLine, record: JsonObject, agent = ''): void {
    const id = countedMessage(record);
    if (id === null || this.#isCounted(id)) return;
    const ofAgent = this.#messages.get(agent) ?? new Map<string, ReadLine[]>();
    this.#messages.set(agent, ofAgent);
    ofAgent.set(id, [...(ofAgent.get(id) ?? []), line]);
  }

  #note(line: ReadLine, { type, agentId, messageId = '', data }: CapturedEvent): void {
    if (type === 'agent:tool_call' && typeof data.toolCallId === 'string') {
      this.#calls.set(data.toolCallId, line);
      for (const agent of this.#started.get(data.toolCallId) ?? [])
        if (!this.#reported.has(agent)) this.#linesOf(agent).first.push(line);
    } else if (type === 'agent:tool_result' && typeof data.toolCallId === 'string')
      this.#calls.delete(data.toolCallId);
    else if (type === 'agent:inference') {
      const messages = this.#messages.get(agentId ?? '');
      // The line that begins a message without an id ends the one before.
      const next = messageId === '' ? (messages?.get(messageId)?.filter((one) => one === line) ?? []) : [];
      if (next.length > 0) messages?.set(messageId, next);
      else messages?.delete(messageId);
    }
    if (agentId === undefined || this.#reported.has(agentId)) return;
    const lines = this.#linesOf(agentId);
    if (!lines.isBegun) lines.first.push(line);
    lines.isBegun = true;
    if (type === 'agent:text' || type === 'agent:tool_call') lines.latest = line;
  }

  #linesOf(agent: string): AgentLines {
    const lines = this.#agents.get(agent) ?? {
      isBegun: false,
      isLinked: false,
      first: [],
      latest: undefined,
    };
    this.#agents.set(agent, lines);
    return lines;
  }
}

/** The id of the model message whose usage a record states, '' for a message without an id; null for any other record. */
export function countedMessage({ type, message }: JsonObject): string | null {
  const { id, model, usage } = asObject(message) ?? {};
  if (type !== 'assistant' || model === noModel || !isCountable(asObject(usage))) return null;
  return asId(id) ?? '';
}

/** With more, reading everything again is not much slower, and the envelope would be large. */
const mostLines = 1_000;
