import { asList, asName, asObject, asText, RecentMap, withoutUndefined } from '@hansard/claude';
import type { EventData, FileChange, JsonObject, JsonValue } from '@hansard/events';

/** What is known of a call until its result. */
export interface OpenCall {
  /** The event of the call. */
  readonly event: string;
  readonly tool: string;
  readonly target?: string | undefined;
  readonly metadata: JsonObject;
}

/** What the process of a call reported, beside what the model was given. */
interface CallEnd {
  readonly exitCode?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly problem?: string | undefined;
  readonly changes?: FileChange[] | undefined;
  /** The updates of files, which state only differences, as Codex has them. */
  readonly updates?: JsonObject | undefined;
}

const mostCalls = 1_000;

/** The calls of a thread, and how their processes ended. A result follows its call and, as a rule, the end of the process. */
export class ToolCalls {
  readonly #calls = new RecentMap<OpenCall>(mostCalls);
  readonly #ends = new RecentMap<CallEnd>(mostCalls);

  get(callId: string | undefined): OpenCall | undefined {
    return callId === undefined ? undefined : this.#calls.get(callId);
  }

  /** The data of an `agent:tool_call`. */
  called(callId: string, event: string, payload: JsonObject): EventData<'agent:tool_call'> {
    const { tool, input } = describedCall(payload);
    const target = targetOf(input);
    const fields = asObject(input);
    const metadata = withoutUndefined({
      namespace: asName(payload.namespace),
      workdir: asName(fields?.workdir),
    }) as JsonObject;
    this.#calls.set(callId, { event, tool, target, metadata });
    return { toolCallId: callId, tool, ...(target === undefined ? {} : { target }), metadata, input };
  }

  /** Keeps how the process of a call ended for its result. */
  ended(callId: string | undefined, payload: JsonObject): void {
    if (callId !== undefined) this.#ends.set(callId, endOf(payload));
  }

  /** The updates of files that the process of a call reported. */
  updatesOf(callId: string): JsonObject | undefined {
    return this.#ends.get(callId)?.updates;
  }

  /** The data of an `agent:tool_result`. */
  answered(callId: string, output: JsonValue): EventData<'agent:tool_result'> {
    const call = this.#calls.get(callId);
    const end = this.#ends.get(callId);
    // An answered call can end once more, and its files are large.
    if (end?.changes !== undefined || end?.updates !== undefined)
      this.#ends.set(callId, { ...end, changes: undefined, updates: undefined });
    const stated = statedIn(output);
    const exitCode = end?.exitCode ?? stated.exitCode;
    const problem =
      end?.problem ??
      (exitCode === undefined || exitCode === 0 ? stated.problem : `The command exited with ${exitCode}.`);
    const durationMs = end?.durationMs ?? stated.durationMs;
    return {
      toolCallId: callId,
      tool: call?.tool ?? 'unknown',
      ...(call?.target === undefined ? {} : { target: call.target }),
      metadata: { ...call?.metadata, ...(exitCode === undefined ? {} : { exitCode }) },
      status: problem === undefined ? 'completed' : 'error',
      ...(durationMs === undefined ? {} : { durationMs }),
      ...(problem === undefined ? {} : { error: problem }),
      output,
      ...(end?.changes === undefined ? {} : { changes: end.changes }),
    };
  }
}

const inputs = ['arguments', 'input', 'action', 'query'];

/** The fields of a call that its event holds in another form. */
export function heldOfCall(payload: JsonObject): string[] {
  const input = inputs.find((name) => payload[name] !== undefined && payload[name] !== null);
  const names = ['type', 'call_id', 'name', 'namespace'].filter((name) => typeof payload[name] === 'string');
  return input === undefined ? names : [...names, input];
}

/** The tool and the input of a call. The arguments of a function are JSON in a string; other tools get text or a list. */
function describedCall(payload: JsonObject): { tool: string; input: JsonValue } {
  const { type, name } = payload;
  const [given = null] = inputs.flatMap((key) => payload[key] ?? []);
  const tool = asName(name) ?? (asName(type) ?? 'unknown').replace(/_call$/, '');
  return { tool, input: payload.arguments === given ? parsed(given) : given };
}

function parsed(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  try {
    const read = JSON.parse(value) as JsonValue;
    return asObject(read) === undefined ? value : read;
  } catch {
    return value;
  }
}

const patchedFile = /^\*\*\* (?:Update|Add|Delete) File: (.+)$/m;
const targets = ['cmd', 'command', 'path', 'query', 'url', 'task_name', 'agent_type', 'target', 'session_id'];

/** The target of a call in one line. */
function targetOf(input: JsonValue): string | undefined {
  if (typeof input === 'string') return lineOf(patchedFile.exec(input)?.[1]);
  const fields = asObject(input);
  for (const name of targets) {
    const value = fields?.[name];
    const text = Array.isArray(value) ? value.filter((one) => typeof one === 'string').join(' ') : value;
    const line = lineOf(typeof text === 'number' ? String(text) : asText(text));
    if (line !== undefined) return line;
  }
  return undefined;
}

const longestTarget = 1_000;

/** The first line of a text as a string of its own: a part of a string keeps the whole string in memory. */
function lineOf(text: string | undefined): string | undefined {
  const line = /\S[^\n]*/.exec(text ?? '')?.[0].trimEnd();
  return line === undefined
    ? undefined
    : Buffer.from(line.slice(0, longestTarget), 'utf16le').toString('utf16le');
}

/** The figures that the text of an output states in the form of older versions: JSON with the exit code of the process. */
function statedIn(output: JsonValue): CallEnd {
  const text = asText(output);
  const stated = text?.startsWith('{"output":') ? asObject(parsed(text)) : asObject(output);
  const { exit_code: code, duration_seconds: seconds } = asObject(stated?.metadata) ?? {};
  return {
    exitCode: typeof code === 'number' ? code : undefined,
    durationMs: typeof seconds === 'number' && seconds >= 0 ? seconds * 1_000 : undefined,
    problem: stated?.success === false ? 'The tool reported a failure.' : undefined,
  };
}

function endOf(payload: JsonObject): CallEnd {
  const { exit_code: code, duration, success, status, changes, result } = payload;
  const failed = success === false || status === 'failed' || status === 'declined';
  const exitCode = typeof code === 'number' && Number.isFinite(code) ? code : undefined;
  const refused = asObject(result)?.Err;
  const isExit = exitCode !== undefined && exitCode !== 0;
  return {
    exitCode,
    durationMs: durationOf(duration),
    problem: isExit
      ? undefined
      : refused !== undefined
        ? (asText(refused)?.split('\n')[0] ?? 'The tool reported an error.')
        : failed
          ? `The tool reported a failure${typeof status === 'string' ? ` (${status})` : ''}.`
          : undefined,
    changes: changesOf(changes),
    updates: updatesOf(changes),
  };
}

function durationOf(value: JsonValue | undefined): number | undefined {
  const { secs, nanos } = asObject(value) ?? {};
  if (typeof secs !== 'number' || typeof nanos !== 'number') return undefined;
  const duration = secs * 1_000 + nanos / 1e6;
  return Number.isFinite(duration) && duration >= 0 ? duration : undefined;
}

/** The files that a patch added or deleted, with their contents. An update states only its differences. */
function changesOf(value: JsonValue | undefined): FileChange[] | undefined {
  const changes = Object.entries(asObject(value) ?? {}).flatMap(([path, given]): FileChange[] => {
    const { type, content } = asObject(given) ?? {};
    if (path === '' || typeof content !== 'string') return [];
    if (type === 'add') return [{ path, before: null, after: content }];
    return type === 'delete' ? [{ path, before: content, after: null }] : [];
  });
  return changes.length === 0 ? undefined : changes;
}

/** The files that a patch updated or moved, with the differences of each. */
function updatesOf(value: JsonValue | undefined): JsonObject | undefined {
  const updates = Object.entries(asObject(value) ?? {}).filter(([, given]) => {
    const { type, unified_diff: diff } = asObject(given) ?? {};
    return type === 'update' && typeof diff === 'string';
  });
  return updates.length === 0 ? undefined : Object.fromEntries(updates);
}

/** The texts of a list of content parts, and the parts that are more than a text. */
export function readContent(value: JsonValue | undefined): { text: string; others: JsonValue[] } {
  if (typeof value === 'string') return { text: value, others: [] };
  const texts: string[] = [];
  const others: JsonValue[] = [];
  for (const part of asList(value) ?? (value === undefined || value === null ? [] : [value])) {
    const fields = asObject(part);
    const text = asText(fields?.text);
    const isText = text !== undefined && /^(?:(?:in|out)put_)?text$|^Text$/.test(asText(fields?.type) ?? '');
    if (isText) texts.push(text);
    if (!isText || Object.entries(fields ?? {}).some(([key, one]) => !isHeld(key, one))) others.push(part);
  }
  return { text: texts.join('\n'), others };
}

/** Whether a field of a text part holds nothing beside the text. */
function isHeld(key: string, value: JsonValue | undefined): boolean {
  return key === 'type' || key === 'text' || isEmpty(value);
}

/** Whether a value says nothing: null, an empty list, an empty object. */
export function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
