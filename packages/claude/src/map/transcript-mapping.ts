import {
  type CapturedEvent,
  eventProblem,
  type Fidelity,
  type JsonObject,
  type JsonValue,
  messageOf,
  preview,
  toNarrative,
} from '@hansard/events';
import { dispatchOfSession } from '../claude-log.ts';
import type { ClaudeDiagnosticCode } from '../lines/claude-diagnostic.ts';
import { asName, asObject, longestStepBack, rawFields, recordedTime } from '../lines/json-fields.ts';
import type { LogPart } from '../lines/log-parts.ts';
import { asBlocks, isToolResult, spawned } from './blocks.ts';
import { asEventId, asId } from './ids.ts';
import { inferenceIdOf, type LateUsage, type OpenCallEvent } from './inferences.ts';
import { MappingStep, openCallsOf } from './mapping-step.ts';
import { noModel } from './model-message.ts';
import { isOfCaller, mapRecord, notifiedTask, progressMessage } from './records.ts';
import type { SubAgent } from './sub-agents.ts';
import { type KeptBranches, type OpenRewind, TranscriptBranches } from './transcript-branches.ts';
import {
  CallCheck,
  type FileState,
  ParentCheck,
  problemOf,
  type TranscriptPart,
  TranscriptState,
} from './transcript-state.ts';
import { TranscriptStep } from './transcript-step.ts';
import { type TurnFacts, TurnStatus } from './turn-status.ts';

export interface TranscriptMappingOptions {
  readonly fidelity: Fidelity;
  readonly report: (code: ClaudeDiagnosticCode, line: number, message: string) => void;
  readonly session?: SessionOfFile | undefined;
}

const parentProblems = {
  ahead: ['reference_ahead', 'comes much later'],
  missing: ['reference_missing', 'is not in the transcript'],
  cycle: ['reference_cycle', 'has this record as its own parent'],
} as const;

/** The session of the file. */
export interface SessionOfFile {
  readonly id: string | null;
  /** The session whose records are copied at the start of the file. */
  readonly continues: string | null;
}

export interface MappingFacts {
  readonly turn: TurnFacts;
  /** The latest time of all records, in milliseconds since 1970; 0 if none has a time. */
  readonly latest: number;
  /** The sessions with a `session:init`. */
  readonly begun: readonly string[];
  /** The uuid of the last message of the session itself; null: none has one. */
  readonly lastMessage: string | null;
  /** The `leafUuid` of each summary, each once. */
  readonly summarises: readonly string[];
  readonly heads: KeptHeads;
  /**
   * The sub-agents that have no `agent:created` yet and begin with another transcript: the id, and the last event of
   * that transcript.
   */
  readonly inheriting: readonly (readonly [agentId: string, through: string])[];
  /** The sessions that its `session:fork` events name. */
  readonly origins: readonly string[];
  readonly branches: KeptBranches;
  /** Where the dispatched agent works: the folder and the branch of its last message. */
  readonly place: JsonObject;
  readonly again: readonly LateUsage[];
}

const mostSummaries = 1_000;
const noLine = { checksum: 0 };
const repeated = { kind: 'repeated' } as const;

function notMapped(problem: string): string {
  return `This record could not be mapped, and is kept as a notice: ${problem}`;
}

/** Maps the files of one session to events. It does no I/O. */
export class TranscriptMapping {
  readonly #state: TranscriptState;
  readonly #report: TranscriptMappingOptions['report'];
  #file: FileState;
  /** Agents that the next record names. */
  #named: (SubAgent | undefined)[] = [];
  /** The agents of teammates, by name. Undefined: several have the name. */
  readonly #teammates = new Map<string, string | undefined>();
  /** The record that reports the end of a background agent. Lines of the agent can be mapped before it. */
  #ending: { readonly part: LogPart; readonly agent: SubAgent | undefined } | undefined;
  readonly #turn = new TurnStatus();
  #branches: TranscriptBranches;
  #latestOfAll = 0;
  #lastMessage: string | null = null;
  #place: JsonObject = {};
  readonly #summarises = new Set<string>();
  #heads = new Heads();
  readonly #origins = new Set<string>();

  constructor({ fidelity, report, session }: TranscriptMappingOptions) {
    this.#state = new TranscriptState(fidelity, report);
    this.#state.session = session?.id ?? undefined;
    this.#state.continues = session?.continues ?? undefined;
    this.#branches = new TranscriptBranches(this.#state.horizon);
    this.#report = report;
    this.#file = this.open({ startsAt: 0 });
  }

  /** Opens a file. Its records are mapped while it is entered. */
  open({ name, agentId, startsAt, meta = {} }: TranscriptPart): FileState {
    const agent = asId(agentId);
    if (agent !== undefined) this.#state.agentsWithFile.add(agent);
    const { name: member, toolUseId } = meta;
    if (agentId !== undefined && asName(toolUseId) !== undefined)
      this.#state.agents.link(agentId, String(toolUseId));
    if (agent !== undefined && asName(member) !== undefined) {
      const isOnly = !this.#teammates.has(String(member));
      this.#teammates.set(String(member), isOnly ? agentId : undefined);
    }
    return {
      agentId: agent,
      prefix: name === undefined ? '' : `${asId(name) ?? 'file'}:`,
      meta,
      parents: new ParentCheck(this.#state.records),
      calls: new CallCheck(),
      horizon: Number.NEGATIVE_INFINITY,
      clock: startsAt,
      latest: startsAt,
      latestUuid: undefined,
      conversation: undefined,
    };
  }

  /** The parts that are mapped next are from this file. */
  enter(file: FileState): void {
    this.#file.conversation = this.#state.conversation;
    this.#file = file;
    this.#state.agentMeta = file.meta;
    this.#state.callCheck = file.calls;
    this.#state.conversation = file.conversation ?? this.#state.conversation;
  }

  /** The sub-agent that a record names as the author of a tool result or of a report, and the time of the record. */
  reportedAgent(part: LogPart): { readonly agentId: string; readonly time: number } | undefined {
    const record = part.kind === 'record' ? asObject(part.record) : undefined;
    if (record === undefined) return undefined;
    const author = this.#authorOf(record);
    const named = author ?? this.#notifierOf(record);
    if (named === undefined) return undefined;
    const agent = this.#state.agents.resolve(named.agentId, named.toolCallId);
    this.#named.push(agent);
    if (author === undefined) this.#ending = { part, agent };
    const status = asObject(record.toolUseResult)?.status;
    const isRunning = status === 'async_launched' || status === spawned;
    return isRunning ? undefined : { agentId: named.agentId, time: recordedTime(record) ?? this.#file.clock };
  }

  #authorOf(record: JsonObject): { agentId: string; toolCallId: string } | undefined {
    const output = asObject(record.toolUseResult);
    const teammate = output?.status === spawned ? this.#teammates.get(asName(output.name) ?? '') : undefined;
    const agentId = asName(output?.agentId) ?? teammate;
    if (agentId === undefined) return undefined;
    const results = asBlocks(asObject(record.message)?.content)?.filter(isToolResult) ?? [];
    const toolCallId = asName(results[0]?.tool_use_id);
    return results.length === 1 && toolCallId !== undefined ? { agentId, toolCallId } : undefined;
  }

  /** Other background tasks, such as commands, have notifications, too. */
  #notifierOf(record: JsonObject): { agentId: string; toolCallId: string | undefined } | undefined {
    const task = notifiedTask(record);
    if (task === undefined) return undefined;
    const { taskId, toolCallId } = task;
    const known = this.#state.agents.find(taskId)?.toolCallId;
    if (known === undefined && !this.#state.agentsWithFile.has(asId(taskId) ?? '')) return undefined;
    const isAgent = isOfCaller(this.#state, record, known ?? toolCallId);
    return isAgent ? { agentId: taskId, toolCallId } : undefined;
  }

  /** The events of one part of a file. Each has an id, and the time of its record or null; no two have the same id. */
  map(part: LogPart): readonly CapturedEvent[] {
    const named = this.#named.length === 0 ? [] : this.#announceNamed(part);
    const ended = this.#ending?.part === part ? this.#endNamed(part, this.#ending.agent) : [];
    const mapped = this.#mapPart(part);
    return named.length + ended.length === 0 ? mapped : [...named, ...ended, ...mapped];
  }

  /** The `agent:created` of agents that have waited for the call that started them. */
  #announceNamed({ line }: LogPart): CapturedEvent[] {
    const step = MappingStep.of(this.#state, {}, null, {});
    for (const agent of this.#named) if (agent?.waiting !== undefined) step.announce(agent);
    this.#named = [];
    return this.#finish(step, `${this.#file.prefix}line-${line}:named`);
  }

  /** The last call of a background agent that a record reports as ended. */
  #endNamed({ line }: LogPart, agent: SubAgent | undefined): CapturedEvent[] {
    const step = MappingStep.of(this.#state, {}, null, {});
    this.#ending = undefined;
    this.#state.inferences.end(agent);
    step.writeInferences();
    return this.#finish(step, `${this.#file.prefix}line-${line}:ended`);
  }

  #mapPart(part: LogPart): readonly CapturedEvent[] {
    const place = `${this.#file.prefix}line-${part.line}${part.part === 1 ? '' : `:${part.part}`}`;
    if (part.kind === 'damaged') {
      const raw = part.raw === undefined ? {} : rawFields(part.raw);
      return [this.#notice(place, { problem: part.problem, line: part.line, ...raw })];
    }
    const record = asObject(part.record);
    const problem = problemOf(part.record, record);
    if (record === undefined || problem !== undefined) {
      this.#report(problem?.code ?? 'not_an_object', part.line, `${problem?.text}; it is kept as a notice.`);
      return [this.#notice(place, { problem: problem?.text ?? '', line: part.line, ...problem?.raw })];
    }
    const id = this.#idOf(record, part, place);
    if (id === null) return [];
    const step = new TranscriptStep(this.#state, record, id, this.#timeOf(record, part.line), part.line);
    this.#checkParent(record, part.line);
    this.#noteOrigin(step);
    this.#file.latestUuid = asName(record.uuid) ?? this.#file.latestUuid;
    const failure = this.#mapRecord(step, record);
    if (failure !== null || !step.events.hasEvent) {
      const reason = failure ?? 'it has no content';
      this.#report('not_mapped', part.line, notMapped(reason));
      step.events.details = {};
      step.events.other('system:notice', { problem: reason, line: part.line, ...rawFields(record) });
    }
    this.#noteMove(step, record);
    const claim = (name: string) => this.#state.ids.claim(name);
    const placed = this.#branches.place(record, this.#finish(step, place, part), { id, place, claim });
    const inProgress = this.#mapProgress(record, part, place);
    return inProgress.length === 0 ? placed : [...placed, ...inProgress];
  }

  /**
   * The events of a sub-agent's message that the progress of its caller holds. They have the ids that the record in a file of the agent gives
   * them. An agent with a file has its messages from there.
   */
  #mapProgress(record: JsonObject, part: LogPart, place: string): CapturedEvent[] {
    const message = progressMessage(record);
    if (message === undefined) return [];
    const { records, progress, agentsWithFile, answers } = this.#state;
    const [uuid, agentId] = [String(message.uuid), asId(message.agentId) ?? ''];
    progress.add(uuid, message);
    if (agentsWithFile.has(agentId) || records.has(uuid)) return [];
    records.see(uuid, message, noLine);
    const whole = progress.begins(agentId) ? { ...message, parentUuid: null } : message;
    const time = recordedTime(message) ?? this.#file.clock;
    const step = new TranscriptStep(this.#state, whole, uuid, time, part.line, true);
    const failure = this.#mapRecord(step, whole);
    // Progress lacks some texts, so the last one here need not be the answer of the agent.
    answers.delete(agentId);
    if (failure !== null) {
      this.#report('not_mapped', part.line, `A message in this record could not be mapped: ${failure}`);
      return [];
    }
    return this.#finish(step, `${place}:progress`, part);
  }

  /** Maps a record. Returns why the mapping failed, or null. What it wrote before stays. */
  #mapRecord(step: TranscriptStep, record: JsonObject): string | null {
    try {
      mapRecord(step);
      if (record.isSidechain !== true) this.#observe(record);
      return null;
    } catch (error) {
      return messageOf(error);
    }
  }

  /**
   * Writes a `session:fork` for each session that this one repeats, before the first record that names the other. A fork of a fork can name both.
   */
  #noteOrigin({ events, message }: TranscriptStep): void {
    const { session, continues } = this.#state;
    if (session === undefined || message.isSidechain === true) return;
    const origin = originOf(message, session, continues);
    if (origin === null || this.#origins.has(origin.sessionId) || this.#origins.size >= mostHeads) return;
    const { sessionId, kind } = origin;
    const isFirst = this.#origins.size === 0;
    this.#origins.add(sessionId);
    const from = { product: 'claude-code', sessionId, dispatchId: dispatchOfSession(sessionId) };
    // When the session was forked is not recorded: the records have the times of the origin.
    const id = asId(`${session}:fork${isFirst ? '' : `:${sessionId}`}`);
    events.derived(id, 'session:fork', { from, kind }, {}, null);
  }

  /** Notes the facts of a record of the main agent. */
  #observe(record: JsonObject): void {
    this.#turn.observe(record);
    this.#heads.observe(record);
    const { type, uuid, leafUuid } = record;
    if (type === 'summary' && this.#summarises.size < mostSummaries) {
      const leaf = asName(leafUuid);
      if (leaf !== undefined) this.#summarises.add(leaf);
    } else if (type === 'assistant' || type === 'user') this.#lastMessage = asName(uuid) ?? this.#lastMessage;
  }

  /** Records that the session works in another folder, or on another branch, from a message on. */
  #noteMove(step: TranscriptStep, { type, isSidechain, uuid, cwd, gitBranch }: JsonObject): void {
    if ((type !== 'user' && type !== 'assistant') || isSidechain === true) return;
    const before = this.#place;
    if (cwd === before.folder && gitBranch === before.branch) return;
    const named = {
      folder: asName(cwd) ?? before.folder ?? null,
      branch: asName(gitBranch) ?? before.branch ?? null,
    };
    this.#place = named;
    const changed = (['folder', 'branch'] as const).filter(
      (key) => before[key] != null && named[key] !== before[key],
    );
    if (changed.length === 0) return;
    const of = (place: JsonObject) => Object.fromEntries(changed.map((key) => [key, place[key] ?? null]));
    const id = asEventId(`${asName(uuid) ?? ''}:moved`);
    step.events.derived(id, 'session:status', { kind: 'moved', from: of(before), to: of(named) }, {});
  }

  /** Ends a file: parents that have not arrived are missing. */
  endFile(): void {
    this.#file.parents.end();
    this.#file.calls.end();
  }

  /**
   * Ends the session: writes the `agent:created` of agents whose call is not known. One that a call without a result may have
   * started still waits, and so does one whose call is in a file that is not there.
   */
  end(): CapturedEvent[] {
    const step = MappingStep.of(this.#state, {}, null, {});
    for (const agent of this.#state.agents.waiting) {
      const { time, timestamp, about } = agent.waiting;
      const { calls } = this.#state;
      const mayBeCalled = agent.toolCallId !== undefined || calls.isOpenSince(time);
      if (calls.has(agent.toolCallId) || !mayBeCalled) step.writeCreated(agent, about, timestamp);
    }
    return this.#finish(step, 'end');
  }

  /** See `ClaudeLog`. */
  isInSeveralRecords(eventId: string): boolean {
    return this.#state.progress.has(eventId);
  }

  /** The events that model messages which are not over become. */
  get openCalls(): OpenCallEvent[] {
    return openCallsOf(this.#state);
  }

  /** Whether some usage is in the records of another agent only. A later reading must then read everything again. */
  get hasUsageElsewhere(): boolean {
    const { inferences, ids } = this.#state;
    return inferences.onlyElsewhere((id) => ids.has(id)).length > 0;
  }

  /** Facts about all records so far. */
  get facts(): MappingFacts {
    const { begun } = this.#state;
    return {
      turn: this.#turn.facts,
      latest: this.#latestOfAll,
      begun: [...begun],
      lastMessage: this.#lastMessage,
      summarises: [...this.#summarises],
      heads: this.#heads.kept,
      inheriting: this.#state.agents.inheriting,
      origins: [...this.#origins],
      branches: this.#branches.kept,
      place: this.#place,
      again: this.#state.inferences.again,
    };
  }

  /** The rewind that a marker announces and no row has followed yet. */
  get openRewind(): OpenRewind | null {
    return this.#branches.open;
  }

  /**
   * Continues after a part of the log of which only some lines were mapped again, with the facts of all of it. Everything
   * that is mapped next is new. `lostAgents`: see `Horizon`.
   */
  continueAfter({
    facts,
    openCalls,
    openMessages,
    lostAgents,
  }: {
    readonly facts: MappingFacts;
    /** Calls without a result. */
    readonly openCalls: readonly string[];
    /** Messages that are not counted yet, each as agent and message. */
    readonly openMessages: readonly string[];
    readonly lostAgents: readonly string[];
  }): void {
    this.#turn.facts = facts.turn;
    this.#latestOfAll = facts.latest;
    this.#lastMessage = facts.lastMessage;
    this.#place = facts.place;
    this.#branches = new TranscriptBranches(this.#state.horizon);
    this.#branches.continueAfter(facts.branches);
    this.#heads = new Heads(facts.heads);
    for (const origin of facts.origins) this.#origins.add(origin);
    for (const [agentId, through] of facts.inheriting) {
      const agent = this.#state.agents.resolve(agentId, undefined);
      if (agent !== undefined) agent.inherits = through;
    }
    for (const leaf of facts.summarises) this.#summarises.add(leaf);
    for (const session of facts.begun) this.#state.begun.add(session);
    this.#state.calls.retainOpen(new Set(openCalls));
    this.#state.inferences.retain(new Set(openMessages));
    this.#state.inferences.takeOver();
    this.#state.inferences.again = facts.again;
    this.#state.horizon.set(lostAgents);
    this.#file = this.open({ startsAt: 0 });
  }

  isCounted(messageId: string): boolean {
    return this.#state.ids.has(inferenceIdOf(messageId) ?? '');
  }

  /** Notes that a message was counted, in a part of the log of which only some lines are mapped again. */
  noteCounted(messageId: string): void {
    this.#state.ids.claim(inferenceIdOf(messageId));
  }

  /** Notes that only a mapping of the whole log gives the right events. */
  lose(): void {
    this.#state.horizon.missed();
  }

  /** Whether only a mapping of the whole log gives the right events. Known after each record. */
  get isLost(): boolean {
    return this.#state.horizon.isCrossed;
  }

  /** The id of the record's first event; null if the record is a repetition. */
  #idOf(record: JsonObject, part: LogPart, place: string): string | null {
    const { line } = part;
    const uuid = asName(record.uuid);
    if (uuid === undefined) return place;
    const isKnown = this.#state.progress.isSame(uuid, record) && this.#state.records.has(uuid);
    const sighting = isKnown ? repeated : this.#state.records.see(uuid, record, part);
    if (sighting.kind === 'repeated') {
      this.#report('id_repeated', line, `The record ${uuid} occurs again; it is kept once.`);
      this.#noteHead(record, uuid);
      return null;
    }
    this.#file.parents.arrived(uuid, asName(record.parentUuid), line);
    const id = asEventId(uuid);
    if (id === undefined) this.#report('id_missing', line, `No event can have the id ${preview(uuid)}.`);
    if (sighting.kind === 'first') return id ?? place;
    const other = `${id ?? place}:${sighting.number}`;
    this.#report(
      'id_taken',
      line,
      `Another record has the id ${preview(uuid)}; this one is kept as ${other}.`,
    );
    return other;
  }

  /** Notes the end of the head that the file of a sub-agent repeats from its caller, until the first record of its own. */
  #noteHead({ isSidechain, agentId }: JsonObject, uuid: string): void {
    const name = isSidechain === true ? asName(agentId) : undefined;
    const agent = name === undefined ? undefined : this.#state.agents.resolve(name, undefined);
    if (agent === undefined || agent.announced || agent.waiting !== undefined) return;
    agent.inherits = this.#state.lastEventOf(uuid);
  }

  /** The place of a record among others: its time, or the latest before it. */
  #timeOf(record: JsonObject, line: number): number {
    const time = recordedTime(record);
    const hasId = asName(record.uuid) !== undefined;
    // A record of the time of the part before may be a repetition of one in it.
    if (hasId && (time ?? Number.NEGATIVE_INFINITY) <= this.#file.horizon) this.#state.horizon.missed();
    if (time === undefined) {
      if (hasId) this.#report('time_missing', line, 'The record has no time, so its events have no time.');
      return this.#file.clock;
    }
    if (time < this.#file.latest - longestStepBack)
      this.#report(
        'time_goes_back',
        line,
        `The time goes back by ${this.#file.latest - time} ms; it is kept unchanged.`,
      );
    this.#file.latest = time;
    this.#file.clock = Math.max(this.#file.clock, time);
    this.#latestOfAll = Math.max(this.#latestOfAll, time);
    return time;
  }

  #checkParent({ parentUuid, uuid: own }: JsonObject, line: number): void {
    const [uuid, child] = [asName(parentUuid), asName(own)];
    if (uuid === undefined || uuid === this.#file.latestUuid) return;
    const report = (problem: keyof typeof parentProblems) => {
      // The part before may have it.
      if (problem === 'missing' && this.#state.horizon.isSet) return;
      const [code, words] = parentProblems[problem];
      this.#report(code, line, `The parent ${preview(uuid)} ${words}.`);
    };
    if (uuid === child) report('cycle');
    else if (!this.#state.records.has(uuid)) this.#file.parents.check(uuid, { line, child, report });
  }

  /** `part`: the record that the events come from, if they come from one. */
  #finish({ events }: MappingStep, place: string, part?: LogPart): CapturedEvent[] {
    const { ids } = this.#state;
    const captured: CapturedEvent[] = [];
    for (const [index, activity] of events.activities.entries()) {
      if (activity.kind !== 'event') continue;
      const { event } = activity;
      // If another event of the file has that id, the place names this one.
      const id = event.id ?? ids.claim(`${place}.${index}`) ?? `${place}..${index}`;
      const made = event.id === undefined ? ({ ...event, id } as CapturedEvent) : (event as CapturedEvent);
      captured.push(this.#recordable(made, part));
    }
    return captured;
  }

  /** The event, or a notice with its id and its record if no store can record the event. */
  #recordable(event: CapturedEvent, part: LogPart | undefined): CapturedEvent {
    const problem = eventProblem(event);
    if (problem === null) return event;
    const line = part?.line ?? 1;
    this.#report('not_mapped', line, notMapped(problem));
    const raw = part?.kind === 'record' ? part.record : (event.data as JsonValue);
    const { id, timestamp } = event;
    const notice: CapturedEvent = {
      id,
      type: 'system:notice',
      timestamp,
      data: { problem, line, ...rawFields(raw) },
    };
    return this.#state.fidelity === 'full' ? notice : toNarrative(notice);
  }

  #notice(place: string, data: JsonObject): CapturedEvent {
    const id = this.#state.ids.claim(place) ?? `${place}..0`;
    const notice: CapturedEvent = {
      id,
      type: 'system:notice',
      timestamp: null,
      data,
    };
    return this.#state.fidelity === 'full' ? notice : toNarrative(notice);
  }
}

/**
 * The session whose records a record says that its file repeats. A copy names its source (`forkedFrom`), or the session that made its request; Claude
 * Code 1.x, and 2.0 in prompts, keep the old session id.
 */
function originOf(
  { forkedFrom, requestSessionId, sessionId, version }: JsonObject,
  session: string,
  continues: string | undefined,
): { readonly sessionId: string; readonly kind: string } | null {
  const forked = asName(asObject(forkedFrom)?.sessionId);
  const isForeign = continues !== undefined && asName(sessionId) !== undefined && sessionId !== session;
  const origin = forked ?? (isForeign ? asName(sessionId) : asName(requestSessionId));
  if (origin === undefined || origin === session) return null;
  const isResume = forked === undefined && String(version).startsWith('1.');
  return { sessionId: origin, kind: isResume ? 'resume' : 'fork' };
}

interface KeptHeads {
  readonly ids: readonly string[];
  readonly rows: readonly string[];
}

/** The first one, and the latest. */
const mostHeads = 64;
const mostRows = 8;

/**
 * The ids of the first answers of a session: of the file, and those with no answer above them up to a root or a compaction. A file that begins with a
 * copy of another file, or of one branch of it, begins with one of these, or with a summary that no answer follows yet: its uuid is one, too.
 */
class Heads {
  readonly #ids: Set<string>;
  /** The uuids of records without an answer above them. */
  readonly #rows: Set<string>;

  constructor({ ids, rows }: KeptHeads = { ids: [], rows: [] }) {
    this.#ids = new Set(ids);
    this.#rows = new Set(rows);
  }

  observe({ type, subtype, uuid, parentUuid, message, isCompactSummary }: JsonObject): void {
    const row = asName(uuid);
    if (row === undefined) return;
    const parent = asName(parentUuid);
    const isFirst = parent === undefined || this.#rows.has(parent) || subtype === 'compact_boundary';
    if (type !== 'assistant') {
      if (isFirst) this.#rows.add(row);
      if (isCompactSummary === true) this.#ids.add(row);
      if (this.#rows.size > mostRows) dropAt(this.#rows, 0);
      return;
    }
    const { id, model } = asObject(message) ?? {};
    const answer = asId(id);
    if (answer !== undefined && model !== noModel && (isFirst || this.#ids.size === 0)) this.#ids.add(answer);
    while (this.#ids.size > mostHeads) dropAt(this.#ids, 1);
  }

  get kept(): KeptHeads {
    return { ids: [...this.#ids], rows: [...this.#rows] };
  }
}

function dropAt(values: Set<string>, at: number): void {
  const [value] = [...values].slice(at, at + 1);
  if (value !== undefined) values.delete(value);
}
