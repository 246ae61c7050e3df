import { hash } from 'node:crypto';
import {
  BalanceSheet,
  type CapturedEvent,
  type EventData,
  eventProblem,
  isId,
  type JsonObject,
  type JsonValue,
  newEvent,
  storedRequest,
} from '@hansard/events';
import { formatCount } from '@hansard/facts';
import type { FormatDiagnostic, FormatDiagnosticCode, FormatReport } from '../lines/format-diagnostic.ts';
import { timeOf } from '../lines/log-origin.ts';
import { parseJson } from '../lines/parse-lines.ts';
import { asObject, asText, isNothing, withoutNothing } from './atif-fields.ts';
import { type AtifLog, type AtifTrajectory, mapStep } from './map-step.ts';
import { type DocumentPart, splitDocument } from './split-document.ts';

/** The bytes of a document, as often as they are asked for. */
export type AtifSource = () => Iterable<Uint8Array>;

/** What a trajectory says beside its steps. */
export interface AtifHead {
  readonly schemaVersion: string | null;
  /** The run. Other documents of the run may have the same. */
  readonly sessionId: string | null;
  /** The run of the trajectory that created this one, as far as the document names it. */
  readonly parentSessionId: string | null;
  /** Names the trajectory among all others, whatever it gets later. */
  readonly name: string;
  /** Whether `name` has an id or a time. Otherwise two trajectories that begin in the same way have the same one. */
  readonly isNamed: boolean;
  readonly model: string | null;
  /** The time of the first step, in milliseconds since 1970. Null if the step has no time. */
  readonly startedAt: number | null;
  /** `unknown` if the first step does not look like a step of ATIF. Null if the document has no complete step. */
  readonly firstStep: 'known' | 'unknown' | null;
  /** The paths of the trajectories that results name. */
  readonly subAgents: readonly string[];
  /** The path of the trajectory that continues this one. */
  readonly continuation: string | null;
  /** The members of the document. A member that cannot be kept as JSON is not among them. */
  readonly members: Readonly<Record<string, JsonValue>>;
}

/** The lists of a trajectory whose items are parts of their own. */
const lists = ['steps', 'subagent_trajectories'];
const mostReferences = 1_000;

/** Reads what a trajectory of ATIF says beside its steps, which are not parsed. */
export function readAtifHead(source: AtifSource): AtifHead {
  const root = new Map<string, JsonValue>();
  const subAgents = new Set<string>();
  let first: JsonValue | undefined;
  for (const part of splitDocument(source(), lists)) {
    if (part.kind === 'member' && !root.has(part.key)) {
      const value = parsed(part.value);
      if (value !== undefined) root.set(part.key, value);
    }
    if (part.kind !== 'item') continue;
    const hasReferences = part.value.includes('"trajectory_path"');
    const isFirst = part.of === 'steps' && first === undefined;
    if (!isFirst && !hasReferences) continue;
    const value = parsed(part.value) ?? null;
    if (isFirst) first = value;
    if (hasReferences)
      for (const path of pathsIn(value)) if (subAgents.size < mostReferences) subAgents.add(path);
  }
  const step = asObject(first) ?? {};
  const agent = asObject(root.get('agent')) ?? {};
  const extra = asObject(agent.extra) ?? {};
  const [sessionId = null, trajectoryId] = ['session_id', 'trajectory_id'].map((key) =>
    asText(root.get(key)),
  );
  const { continuation_index: continuation, summarization_index: summarization } = extra;
  const opening = JSON.stringify(
    [step.source, step.message, step.is_copied_context].map((value) => value ?? null),
  );
  const digest = hash('sha256', opening, 'hex').slice(0, 32);
  const parts =
    trajectoryId === undefined ? [agent.name, continuation, summarization, digest] : [trajectoryId];
  const hasId = sessionId !== null || trajectoryId !== undefined;
  return {
    schemaVersion: asText(root.get('schema_version')) ?? null,
    sessionId,
    parentSessionId: asText(extra.parent_session_id) ?? null,
    name: JSON.stringify(
      [sessionId, ...parts, ...(hasId ? [] : [timeOf(step)])].map((value) => value ?? null),
    ),
    isNamed: hasId || timeOf(step) !== null,
    model: asText(agent.model_name) ?? null,
    startedAt: timeOf(step),
    firstStep: first === undefined ? null : isStep(first) ? 'known' : 'unknown',
    subAgents: [...subAgents],
    continuation: asText(root.get('continued_trajectory_ref')) ?? null,
    members: Object.fromEntries(root),
  };
}

function parsed(bytes: Buffer): JsonValue | undefined {
  return parseJson(bytes.toString())?.value as JsonValue | undefined;
}

/** The paths of the trajectories that the results of a step name, or those of the steps of an embedded trajectory. */
function pathsIn(value: JsonValue): string[] {
  const { observation, steps } = asObject(value) ?? {};
  const results = asObject(observation)?.results;
  const own = (Array.isArray(results) ? results : []).flatMap((result) => {
    const references = asObject(result)?.subagent_trajectory_ref;
    return (Array.isArray(references) ? references : []).flatMap(
      (one) => asText(asObject(one)?.trajectory_path) ?? [],
    );
  });
  return [...own, ...(Array.isArray(steps) ? steps : []).flatMap(pathsIn)];
}

function isStep(value: JsonValue): boolean {
  const { step_id: id, source, message } = asObject(value) ?? {};
  return (typeof id === 'number' || typeof source === 'string') && message !== undefined;
}

/** Whether the start of a file shows a trajectory of ATIF: an object that states its version. */
export function detectAtif(start: string): boolean {
  if (!/^\uFEFF?\s*\{/.test(start)) return false;
  for (const part of splitDocument([Buffer.from(start)], lists)) {
    if (part.kind === 'member' && part.key === 'schema_version')
      return /^"ATIF-v\d/.test(part.value.toString());
    // Its version may come last.
    if (part.kind !== 'member')
      return part.kind === 'item' && /"schema_version"\s*:\s*"ATIF-v\d/.test(start.slice(-1_000));
  }
  return false;
}

/** A trajectory that is being read. */
export interface AtifReading {
  /** Can be called once. */
  read(): Generator<CapturedEvent[]>;
  /** Complete when `read` has ended. */
  summary(): AtifSummary;
}

interface AtifSummary extends FormatReport {
  readonly events: number;
  /** How often each diagnostic was found. The first 20 of each code are kept. */
  readonly counts: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly model: string | null;
  /** The latest time of all steps, in milliseconds since 1970. Null if no step has a time. */
  readonly completedAt: number | null;
  /** Whether the last step is an answer, or the document names the one that continues it. */
  readonly isAnswered: boolean;
}

interface ReadAtifOptions {
  readonly head: AtifHead;
  /** The bytes of a file that a part names. Null if the file is outside of the document's folder or cannot be read. */
  readonly media?: (path: string) => Uint8Array | null;
}

/** The members of a trajectory that change while it grows. */
const changing: ReadonlySet<string> = new Set([
  'final_metrics',
  'notes',
  'continued_trajectory_ref',
  'extra',
]);
const eventsOfBatch = 256;
const bytesOfBatch = 512 * 1024;
const keptOfEach = 20;
const longestAgent = 64;

/** Reads a trajectory of ATIF, of any version, one step after the other. What cannot be read is kept as a notice or counted. */
export function readAtif(source: AtifSource, options: ReadAtifOptions): AtifReading {
  const reading = new Reading(source, options);
  return { read: () => reading.read(), summary: () => reading.summary() };
}

class Reading {
  readonly #source: AtifSource;
  readonly #head: AtifHead;
  readonly #sheet = new BalanceSheet();
  readonly #diagnostics: FormatDiagnostic[] = [];
  readonly #counts: Record<string, number> = {};
  readonly #log: AtifLog;
  readonly #root: JsonObject;
  readonly #state: JsonObject;
  #trajectory: AtifTrajectory;
  #steps = 0;
  #embedded = 0;
  #part = 1;
  #events = 0;
  #bytes = 0;
  #latest: number | null = null;
  #isAnswered = false;

  constructor(source: AtifSource, { head, media = () => null }: ReadAtifOptions) {
    this.#source = source;
    this.#head = head;
    const members = Object.entries(head.members);
    this.#root = withoutNothing(Object.fromEntries(members.filter(([key]) => !changing.has(key))));
    this.#state = withoutNothing(Object.fromEntries(members.filter(([key]) => changing.has(key))));
    const own = asObject(asObject(head.members.extra)?.hansard);
    const agentId = own?.agentId;
    const isNamed = typeof agentId === 'string' && isId(agentId);
    this.#trajectory = { prefix: '', model: head.model, ...(isNamed ? { agentId } : {}) };
    const report: AtifLog['report'] = (code, message) => this.#report(code, message);
    this.#log = {
      media,
      report,
      isOwn: own !== undefined,
      taken: new Set(),
      callers: new Map(),
      files: 0,
      fileBytes: 0,
    };
    if (isNamed) this.#log.taken.add(`agent ${agentId}`);
  }

  *read(): Generator<CapturedEvent[]> {
    this.#sheet.take('files');
    let batch = this.#begin();
    let bytes = 0;
    for (const part of splitDocument(this.#source(), lists)) {
      this.#sheet.take('bytes', part.bytes);
      this.#bytes += part.bytes;
      bytes += part.bytes;
      if (!part.isUtf8)
        this.#report('not_utf8', `Part ${this.#part} is not UTF-8. What cannot be read of it is replaced.`);
      batch.push(...this.#take(part));
      if (batch.length < eventsOfBatch && bytes < bytesOfBatch) continue;
      this.#events += batch.length;
      yield batch;
      batch = [];
      bytes = 0;
    }
    this.#finish();
    this.#events += batch.length;
    if (batch.length > 0) yield batch;
  }

  summary(): AtifSummary {
    const sheet = new BalanceSheet();
    sheet.add(this.#sheet.balance);
    const { files, fileBytes } = this.#log;
    for (const [unit, count] of [
      ['files', files],
      ['bytes', fileBytes],
    ] as const) {
      sheet.take(unit, count);
      sheet.record(unit, count);
    }
    const { records, balance } = { records: sheet.balance.records.in, balance: sheet.balance };
    return {
      records,
      balance,
      diagnostics: this.#diagnostics,
      counts: this.#counts,
      events: this.#events,
      bytes: this.#bytes,
      model: this.#head.model,
      completedAt: this.#latest,
      isAnswered: this.#isAnswered || this.#head.continuation !== null,
    };
  }

  #report(code: FormatDiagnosticCode, message: string): void {
    const count = (this.#counts[code] ?? 0) + 1;
    this.#counts[code] = count;
    if (count <= keptOfEach) this.#diagnostics.push({ code, line: 1, message });
  }

  #take(part: DocumentPart): CapturedEvent[] {
    this.#part += 1;
    if (part.kind === 'end') {
      this.#sheet.record('bytes', part.bytes);
      return [];
    }
    if (part.kind === 'damage') return this.#damage(part);
    this.#sheet.record('bytes', part.bytes);
    const value = parsed(part.value);
    if (part.kind === 'member') return this.#member(part.key, value, part.value);
    this.#sheet.take('records');
    this.#sheet.record('records');
    if (part.of === 'steps') return this.#step(value, part.value);
    this.#embedded += 1;
    const child = asObject(value);
    const name = `trajectory-${this.#embedded}`;
    return child === undefined ? this.#notice(part.value, name) : this.#embed(child, this.#embedded, '');
  }

  /** What comes after the place at which the document cannot be read. */
  #damage({ code, value, bytes }: DocumentPart & { readonly kind: 'damage' }): CapturedEvent[] {
    this.#sheet.take('records');
    this.#sheet.leaveOut('records', code === 'unfinished' ? code : 'damaged');
    this.#sheet.leaveOut('bytes', code === 'unfinished' ? code : 'damaged', bytes);
    const where = `after ${formatCount(this.#steps, 'step')}, with ${formatCount(bytes, 'byte')}`;
    if (code === 'unfinished') {
      this.#report(code, `The document ends within a value, ${where}. They are left out until it is whole.`);
      return [];
    }
    this.#report(
      code,
      `The document is not JSON from here on: ${where}. They are left out: ${JSON.stringify(value.toString().slice(0, 200))}`,
    );
    return [];
  }

  /** A member that the head does not hold. */
  #member(key: string, value: JsonValue | undefined, raw: Buffer): CapturedEvent[] {
    const isFirst = !this.#log.taken.has(`member ${key}`);
    this.#log.taken.add(`member ${key}`);
    return isFirst && value !== undefined ? [] : this.#notice(raw, key);
  }

  #notice(raw: Buffer | string, name: string): CapturedEvent[] {
    this.#report('wrong_value', `${name} cannot be kept as JSON. Its text is kept as a notice.`);
    const id = this.#idOf(`notice:${name}`);
    return [
      {
        id,
        type: 'system:notice',
        timestamp: null,
        data: { problem: 'not JSON that an event can hold', raw: raw.toString() },
      },
    ];
  }

  /** An id that no other event has. */
  #idOf(name: string): string {
    const { taken } = this.#log;
    const base = isId(name) ? name : `${hash('sha256', name, 'hex').slice(0, 32)}`;
    let id = base;
    for (let number = 2; taken.has(`id ${id}`); number += 1) id = `${base}.${number}`;
    taken.add(`id ${id}`);
    return id;
  }

  /** The events of the trajectory itself, before its first step. */
  #begin(): CapturedEvent[] {
    const { agentId } = this.#trajectory;
    const { events, tools } = this.#headOf(this.#root, this.#trajectory);
    this.#trajectory = { ...this.#trajectory, ...(tools === undefined ? {} : { tools }) };
    this.#sheet.take('records');
    this.#sheet.record('records');
    const created = agentId === undefined ? [] : this.#created({ ...this.#root, ...this.#state }, agentId);
    const state: CapturedEvent[] = isNothing(this.#state)
      ? []
      : [
          {
            id: 'trajectory:state',
            type: 'system:trajectory_state',
            timestamp: null,
            ...(agentId === undefined ? {} : { agentId }),
            data: this.#state,
          },
        ];
    return [...created, ...events, ...state];
  }

  #headOf(
    root: JsonObject,
    { agentId, prefix, model }: AtifTrajectory,
  ): { events: CapturedEvent[]; tools?: string } {
    const links = agentId === undefined ? {} : { agentId };
    const agent = asObject(root.agent);
    const { tool_definitions: definitions, ...ofAgent } = agent ?? {};
    const stored = toolsOf(definitions);
    const isKept = stored !== null && eventProblem({ ...stored, timestamp: null }) === null;
    const data = agent === undefined || !isKept ? root : { ...root, agent: ofAgent };
    const events: CapturedEvent[] = [
      { id: `${prefix}trajectory`, type: 'system:trajectory', timestamp: null, ...links, data },
    ];
    const name = `content ${stored?.id}`;
    if (isKept && !this.#log.taken.has(name)) {
      this.#log.taken.add(name);
      events.push(stored as CapturedEvent);
    }
    if (prefix === '' && model !== null) {
      const sessionId = this.#head.sessionId ?? 'unknown';
      events.push({
        id: 'trajectory:init',
        timestamp: null,
        ...newEvent('session:init', { model, sessionId }),
      });
    }
    return { events, ...(isKept ? { tools: stored.id } : {}) };
  }

  #step(value: JsonValue | undefined, raw: Buffer): CapturedEvent[] {
    this.#steps += 1;
    const step = asObject(value);
    if (step === undefined) return this.#notice(raw, `step-${this.#steps}`);
    this.#isAnswered = step.source === 'agent';
    return this.#mapped(this.#trajectory, step, this.#steps);
  }

  #mapped(trajectory: AtifTrajectory, step: JsonObject, place: number): CapturedEvent[] {
    const time = timeOf(step);
    if (time !== null && time > (this.#latest ?? -1)) this.#latest = time;
    return mapStep(this.#log, trajectory, step, place);
  }

  /** The agent of an embedded trajectory, its steps, and the agents that it embeds. */
  #embed(
    { steps, subagent_trajectories: children, ...root }: JsonObject,
    number: number,
    above: string,
  ): CapturedEvent[] {
    const agentId = this.#agentOf(root.trajectory_id, `${above}trajectory-${number}`);
    const model = asText(asObject(root.agent)?.model_name) ?? null;
    const { trajectory_id: id } = root;
    const created = this.#created(
      root,
      agentId,
      typeof id === 'string' ? this.#log.callers.get(id) : undefined,
    );
    const prefix = `${agentId}:`;
    const given = withoutNothing({
      ...root,
      ...(Array.isArray(steps) ? {} : { steps }),
      ...(Array.isArray(children) ? {} : { subagent_trajectories: children }),
    });
    const { events, tools } = this.#headOf(given, { agentId, prefix, model });
    const trajectory = { agentId, prefix, model, ...(tools === undefined ? {} : { tools }) };
    const own = (Array.isArray(steps) ? steps : []).flatMap((item, at) => {
      const step = asObject(item);
      return step === undefined
        ? this.#notice(JSON.stringify(item), `${prefix}step-${at + 1}`)
        : this.#mapped(trajectory, step, at + 1);
    });
    const inner = (Array.isArray(children) ? children : []).flatMap((item, at) => {
      const child = asObject(item);
      return child === undefined
        ? this.#notice(JSON.stringify(item), `${prefix}trajectory-${at + 1}`)
        : this.#embed(child, at + 1, prefix);
    });
    return [...created, ...events, ...own, ...inner];
  }

  #created({ agent, extra }: JsonObject, agentId: string, cause?: string): CapturedEvent[] {
    const { name, model_name: model } = asObject(agent) ?? {};
    const stated = this.#log.isOwn ? asObject(asObject(asObject(extra)?.hansard)?.created) : undefined;
    if (this.#log.isOwn && stated === undefined) return [];
    const data = stated ?? {
      ...(asText(name) === undefined ? {} : { name: asText(name) }),
      ...(asText(model) === undefined ? {} : { languageModel: asText(model) }),
    };
    const links = { agentId, ...(cause === undefined ? {} : { cause }) };
    const created = {
      id: `${agentId}:created`,
      timestamp: null,
      ...newEvent('agent:created', data as EventData<'agent:created'>, links),
    };
    return [eventProblem(created) === null ? created : { ...created, data: {} }];
  }

  #agentOf(given: JsonValue | undefined, otherwise: string): string {
    const isGiven = typeof given === 'string' && isId(given) && given.length <= longestAgent;
    const named =
      typeof given === 'string' && given !== '' ? hash('sha256', given, 'hex').slice(0, 32) : otherwise;
    const wanted = isGiven
      ? given
      : isId(named) && named.length <= longestAgent
        ? named
        : hash('sha256', named, 'hex').slice(0, 32);
    const { taken } = this.#log;
    let agentId = wanted;
    for (let number = 2; taken.has(`agent ${agentId}`); number += 1) agentId = `${wanted}.${number}`;
    taken.add(`agent ${agentId}`);
    return agentId;
  }

  #finish(): void {
    this.#sheet.record('files');
    if (this.#latest === null)
      this.#report('time_missing', 'No step has a time that is known, so no event has one.');
    if (this.#head.sessionId === null) this.#report('id_missing', 'The document has no session_id.');
  }
}

/** The definitions of tools in the form of OpenAI. Null if there are none. */
function toolsOf(definitions: JsonValue | undefined): ReturnType<typeof storedRequest> {
  if (!Array.isArray(definitions) || definitions.length === 0) return null;
  const tools = definitions.map((definition) => {
    const { type, function: described, ...others } = asObject(definition) ?? {};
    const { name, description, parameters, ...more } = asObject(described) ?? {};
    if (typeof name !== 'string' || type !== 'function' || !isTextOrAbsent(description)) return null;
    const details = withoutNothing({ ...others, ...(isNothing(more) ? {} : { function: more }) });
    return {
      name,
      ...(description === undefined ? {} : { description }),
      ...(parameters === undefined ? {} : { inputSchema: parameters }),
      ...(isNothing(details) ? {} : { details }),
    };
  });
  return tools.some((tool) => tool === null) ? null : storedRequest({ tools: tools as object[] });
}

function isTextOrAbsent(value: JsonValue | undefined): boolean {
  return value === undefined || typeof value === 'string';
}
