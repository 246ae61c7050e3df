import { isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import { isTrainingPair } from '@hansard/formats';
import type { LogHead } from '@hansard/provider';

/** The start of a file, as the signatures of products look at it. */
interface Sample {
  readonly path: string;
  readonly text: string;
  /** The records of the first lines. */
  readonly lines: readonly JsonObject[];
  /** The value of a file that is one JSON document; undefined if it is none, or longer than its start. */
  readonly document: JsonValue | undefined;
  /** The items of a document that is a list. */
  readonly items: readonly JsonObject[];
  /** The keys of a document, at any depth if it is longer than its start. */
  has(...keys: readonly string[]): boolean;
  /** Whether the file is a database with all these tables. */
  hasTables(...names: readonly string[]): boolean;
}

/** Where a product keeps its sessions on a machine. */
export interface ProductFolders {
  /** The variable of the environment that names the product's folder, and wins over `home`. */
  readonly variable?: string;
  /** The product's folder below the home folder of a user. */
  readonly home: string;
  /** The folders in it that have sessions. */
  readonly below: readonly string[];
}

/** A program whose sessions a user may have. */
export interface Product {
  readonly id: string;
  readonly title: string;
  readonly whereItLies: readonly ProductFolders[];
  /** What the path of a session's file matches, with `/` between its folders. */
  readonly sessions: RegExp;
  /** Whether the start of a file stays what it was. */
  readonly core: 'append-only' | 'mutable';
  /** The id of the importer that reads its sessions. Absent: none does. */
  readonly readBy?: string;
}

interface SignedProduct extends Product {
  /** Whether the start of a file shows the product. Null: its importer detects it. */
  readonly shows: ((sample: Sample) => boolean) | null;
}

const mostLines = 40;

/**
 * The product that a file is of, by the keys that identify its records; null if no signature shows. Invariant: no file of a format that can be
 * imported has one of these signatures.
 */
export function nameProduct(head: LogHead): string | null {
  const sample = sampleOf(head);
  return signed.find(({ shows }) => shows?.(sample) === true)?.title ?? null;
}

const codexStream = /^(thread|turn|item)\.(started|updated|completed|failed)$/;
const openHandsSources = kinds('agent user environment');
const smallchatTypes = kinds('agent_created fragment transcript_entry transcript_edit');

/** A product whose sessions lie where its user puts them. */
const elsewhere: Pick<Product, 'whereItLies' | 'sessions'> = { whereItLies: [], sessions: /(?!)/ };

/** A folder of Visual Studio Code, on the systems that it runs on. */
function editors(folder: string): ProductFolders[] {
  const below = [folder];
  return [
    { variable: 'APPDATA', home: 'AppData/Roaming', below: below.map((name) => `Code/User/${name}`) },
    { home: 'Library/Application Support/Code/User', below },
    { home: '.config/Code/User', below },
    { home: '.vscode-server/data/User', below },
  ];
}

const signed: readonly SignedProduct[] = [
  {
    id: 'claude-code',
    readBy: 'claude-transcript',
    title: 'Claude Code',
    whereItLies: [
      { variable: 'CLAUDE_CONFIG_DIR', home: '.claude', below: ['projects'] },
      { home: '.config/claude', below: ['projects'] },
    ],
    sessions: /\.jsonl(?:\.gz)?$/,
    core: 'append-only',
    shows: null,
  },
  {
    id: 'atif',
    title: 'ATIF',
    ...elsewhere,
    core: 'mutable',
    shows: null,
  },
  {
    id: 'inspect',
    title: 'Inspect',
    ...elsewhere,
    core: 'mutable',
    shows: (sample) => isInspect(sample),
  },
  {
    id: 'swe-agent',
    title: 'SWE-agent',
    ...elsewhere,
    core: 'mutable',
    shows: (sample) =>
      sample.has('trajectory', 'info') ||
      sample.has('trajectory', 'environment') ||
      sample.has('trajectory_format', 'messages'),
  },
  {
    id: 'openhands',
    title: 'OpenHands',
    ...elsewhere,
    core: 'append-only',
    shows: ({ items, lines, document }) => [...items, ...lines, document].some(isOpenHands),
  },
  {
    id: 'codex',
    readBy: 'codex',
    title: 'Codex',
    whereItLies: [{ variable: 'CODEX_HOME', home: '.codex', below: ['sessions', 'archived_sessions'] }],
    sessions: /\/rollout-[^/]*\.jsonl(?:\.zst)?$/,
    core: 'append-only',
    shows: ({ lines }) => lines.some(isCodex),
  },
  {
    id: 'smallchat',
    readBy: 'smallchat',
    title: 'smallchat',
    ...elsewhere,
    core: 'append-only',
    shows: ({ lines }) =>
      lines.some(
        ({ event_type: type, agent, agent_id: id }) =>
          smallchatTypes.has(type) && typeof agent === 'string' && id === undefined,
      ),
  },
  {
    id: 'qwen-code',
    readBy: 'qwen-code',
    title: 'Qwen Code',
    whereItLies: [{ variable: 'QWEN_HOME', home: '.qwen', below: ['projects', 'tmp'] }],
    sessions: /\/chats\/[^/]*\.jsonl?$/,
    core: 'append-only',
    shows: (sample) => sample.lines.some(isQwen) || (isOfGemini(sample) && isOfQwen(sample.path)),
  },
  {
    id: 'gemini-cli',
    readBy: 'gemini-cli',
    title: 'Gemini CLI',
    whereItLies: [{ home: '.gemini', below: ['tmp'] }],
    sessions: /\/chats\/(?:session-[^/]*|[^/]+\/[^/]+)\.jsonl?$/,
    core: 'mutable',
    shows: isGemini,
  },
  {
    id: 'opencode',
    readBy: 'opencode',
    title: 'OpenCode',
    whereItLies: [{ variable: 'XDG_DATA_HOME', home: '.local/share', below: ['opencode'] }],
    sessions: /\/opencode[^/]*\.db$|\/storage\/session\/.*\.json$/,
    core: 'mutable',
    shows: isOpenCode,
  },
  {
    id: 'cursor',
    title: 'Cursor',
    whereItLies: [{ home: '.cursor', below: ['chats', 'projects'] }],
    sessions: /\/store\.db$|\/agent-transcripts\/.*\.jsonl?$/,
    core: 'mutable',
    shows: isCursor,
  },
  {
    id: 'copilot-cli',
    readBy: 'copilot-cli',
    title: 'GitHub Copilot CLI',
    whereItLies: [{ variable: 'COPILOT_HOME', home: '.copilot', below: ['session-state'] }],
    sessions: /\/events\.jsonl$/,
    core: 'append-only',
    shows: null,
  },
  {
    id: 'copilot-chat',
    title: 'GitHub Copilot Chat',
    whereItLies: editors('workspaceStorage'),
    sessions: /\/chatSessions\/[^/]*\.jsonl?$/,
    core: 'mutable',
    shows: ({ has, lines: [first] }) =>
      has('requests', 'responderUsername') ||
      has('requests', 'requesterUsername') ||
      (isPlainObject(first?.v) && first.kind === 0 && 'requests' in first.v),
  },
  {
    id: 'goose',
    title: 'Goose',
    whereItLies: [{ variable: 'XDG_DATA_HOME', home: '.local/share', below: ['goose/sessions'] }],
    sessions: /\/sessions\.db$|\.jsonl$/,
    core: 'mutable',
    shows: ({ has, hasTables, lines: [first], text }) =>
      (first !== undefined && 'working_dir' in first && !('type' in first)) ||
      has('working_dir', 'conversation') ||
      (hasTables('sessions', 'messages') && text.includes('working_dir') && text.includes('content_json')),
  },
  {
    id: 'cline',
    title: 'Cline',
    whereItLies: [
      ...editors('globalStorage/saoudrizwan.claude-dev'),
      { home: '.cline/data', below: ['tasks', 'sessions'] },
    ],
    sessions: /\/(?:api_conversation_history|[^/]*\.messages)\.json$/,
    core: 'mutable',
    shows: ({ items, path }) =>
      items.some(({ ts, type }) => typeof ts === 'number' && (type === 'say' || type === 'ask')) ||
      (/api_conversation_history\.json$/.test(path) && items.some(({ role }) => role === 'user')),
  },
  {
    id: 'aider',
    title: 'Aider',
    ...elsewhere,
    core: 'append-only',
    shows: ({ text }) =>
      /^# aider chat started at /m.test(text.slice(0, 4_000)) ||
      /^(TO LLM|LLM RESPONSE) \d{4}-/m.test(text.slice(0, 4_000)),
  },
  {
    id: 'pi',
    readBy: 'pi',
    title: 'pi',
    whereItLies: [{ variable: 'PI_CODING_AGENT_DIR', home: '.pi/agent', below: ['sessions'] }],
    sessions: /\.jsonl$/,
    core: 'append-only',
    // The form of its core library, which the command has not written yet.
    shows: ({ lines: [first] }) => first?.kind === 'header' && first.version === 4,
  },
  {
    id: 'amp',
    title: 'Amp',
    whereItLies: [{ variable: 'XDG_DATA_HOME', home: '.local/share', below: ['amp/threads'] }],
    sessions: /\/T-[^/]*\.json$/,
    core: 'mutable',
    shows: ({ document, has }) => textOf(document, 'id').startsWith('T-') && has('messages'),
  },
  {
    id: 'continue',
    title: 'Continue',
    whereItLies: [{ variable: 'CONTINUE_GLOBAL_DIR', home: '.continue', below: ['sessions'] }],
    sessions: /-[0-9a-f]{12}\.json$/,
    core: 'mutable',
    shows: ({ has }) => has('sessionId', 'workspaceDirectory', 'history'),
  },
  {
    id: 'opentelemetry',
    title: 'OpenTelemetry',
    ...elsewhere,
    core: 'append-only',
    shows: ({ lines, document }) =>
      [...lines, document].some(
        (one) =>
          isPlainObject(one) &&
          ['resourceSpans', 'resourceLogs', 'resourceMetrics'].some((key) => key in one),
      ),
  },
  {
    id: 'chatgpt-export',
    title: 'an export of ChatGPT',
    ...elsewhere,
    core: 'mutable',
    shows: ({ items }) => items.some((item) => 'mapping' in item && 'title' in item),
  },
  {
    id: 'claude-ai-export',
    title: 'an export of Claude.ai',
    ...elsewhere,
    core: 'mutable',
    shows: ({ items }) => items.some((item) => 'chat_messages' in item && 'uuid' in item),
  },
  {
    id: 'sft-dataset',
    title: 'the stream sft_dataset of a game log',
    ...elsewhere,
    core: 'append-only',
    shows: ({ lines }) => lines.length > 0 && lines.every(isTrainingPair),
  },
];

/** The products whose sessions Hansard knows, readable or not. */
export const products: readonly Product[] = signed;

/** What Codex writes beside its rollouts: streams of `codex exec --json`, the history of prompts, and rollouts of its first versions. */
function isCodex({
  type,
  timestamp,
  item,
  instructions,
  record_type: state,
  session_id: session,
  ts,
  text,
  id,
}: JsonObject): boolean {
  if (matches(codexStream, type)) return isPlainObject(item) || !String(type).startsWith('item');
  if (state === 'state') return true;
  if (typeof ts === 'number' && typeof session === 'string' && typeof text === 'string') return true;
  return (
    type === undefined &&
    instructions !== undefined &&
    typeof timestamp === 'string' &&
    typeof id === 'string'
  );
}

/** Whether a file lies in the folder of Qwen Code. */
export function isOfQwen(path: string): boolean {
  return /[\\/]\.qwen[\\/]/.test(path);
}

/** The figures of runs, which are cumulative. */
function isQwen({ sessionId, ...record }: JsonObject): boolean {
  return typeof sessionId === 'string' && 'totalLatencyMs' in record && 'models' in record;
}

/** A session in the form of Gemini CLI, which Qwen Code had in its first versions. */
function isOfGemini({ has, lines: [first] }: Sample): boolean {
  return (
    has('sessionId', 'projectHash') || (first !== undefined && 'sessionId' in first && 'projectHash' in first)
  );
}

/** What Gemini CLI writes beside its sessions: a stream of its output, the history of prompts, and checkpoints. */
function isGemini({ lines: [first], items }: Sample): boolean {
  if (first?.type === 'init' && 'session_id' in first && 'model' in first) return true;
  return (
    items.some(
      ({ sessionId, messageId }) => typeof sessionId === 'string' && typeof messageId === 'number',
    ) ||
    (items.length > 0 &&
      items.every(({ role, parts }) => (role === 'user' || role === 'model') && Array.isArray(parts)))
  );
}

function isOpenCode({ document, lines, has }: Sample): boolean {
  const isSession = (value: JsonValue | undefined) => typeof value === 'string' && value.startsWith('ses_');
  if (lines.some(({ sessionID, part }) => isSession(sessionID) && isPlainObject(part))) return true;
  if (isPlainObject(document)) {
    const { info, id, sessionID } = document as JsonObject;
    if (isPlainObject(info) && isSession((info as JsonObject).id)) return true;
    if (isSession(sessionID) || (isSession(id) && has('projectID'))) return true;
  }
  return has('info', 'projectID', 'messages', 'sessionID');
}

function isCursor({ hasTables, lines, text }: Sample): boolean {
  if (hasTables('cursorDiskKV') || (hasTables('ItemTable') && text.includes('composer'))) return true;
  if (hasTables('blobs', 'meta')) return true;
  const [first] = lines;
  if (first?.type === 'system' && 'apiKeySource' in first && !('uuid' in first) && !('tools' in first))
    return true;
  return (
    lines.length > 0 &&
    lines.every(
      ({ role, message, type }) =>
        type === undefined &&
        (role === 'user' || role === 'assistant') &&
        isPlainObject(message) &&
        'content' in message,
    )
  );
}

function isInspect({ document, text, path }: Sample): boolean {
  if (text.startsWith('PK') && path.endsWith('.eval')) return true;
  if (isPlainObject(document)) {
    const { eval: evaluation, status } = document as JsonObject;
    return (
      isPlainObject(evaluation) && 'task' in evaluation && 'model' in evaluation && typeof status === 'string'
    );
  }
  const start = text.trimStart().startsWith('{') ? text.slice(0, 2_000) : '';
  return /"eval"\s*:\s*\{/.test(start.slice(0, 300)) && /"(run_id|task_id)"\s*:/.test(start);
}

function isOpenHands(value: JsonValue | undefined): boolean {
  if (!isPlainObject(value)) return false;
  const {
    source,
    timestamp,
    id,
    action,
    observation,
    kind,
    instance_id: instance,
    history,
  } = value as JsonObject;
  if (typeof instance === 'string' && Array.isArray(history)) return true;
  if (!openHandsSources.has(source) || timestamp === undefined || id === undefined) return false;
  return (
    action !== undefined || observation !== undefined || /Event$|Action$|Observation$/.test(String(kind))
  );
}

function sampleOf(head: LogHead): Sample {
  const { path, text, isCut } = head;
  const isDatabase = text.startsWith('SQLite format 3\0');
  const document = isCut || isDatabase ? undefined : parse(text);
  const tables = tablesIn(text);
  const isObject = isPlainObject(document);
  const list = Array.isArray(document) ? document : [];
  const lines = isDatabase ? [] : wholeLines(head).slice(0, mostLines).map(parse).filter(isRecord);
  const isLong = document === undefined && lines.length === 0 && /^\uFEFF?\s*\{/.test(text);
  const start = isLong ? text.slice(0, 64 * 1024) : '';
  return {
    path,
    text,
    lines: Array.isArray(document) ? list.filter(isRecord).slice(0, mostLines) : lines,
    document,
    items: list.filter(isRecord).slice(0, mostLines),
    has: (...keys) =>
      keys.every((key) =>
        isObject ? key in document : start.includes(`"${key}":`) || start.includes(`"${key}" :`),
      ),
    hasTables: (...names) => names.every((name) => tables.has(name)),
  };
}

/** The tables that the start of a database defines. Empty if it is not a database. */
export function tablesIn(text: string): ReadonlySet<string> {
  if (!text.startsWith('SQLite format 3\0')) return new Set();
  const created = text.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?["'`[]?(\w+)/gi);
  return new Set([...created].map(([, name = '']) => name));
}

function isRecord(value: JsonValue | undefined): value is JsonObject {
  return isPlainObject(value);
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, '')) as JsonValue;
  } catch {
    return undefined;
  }
}

function textOf(value: JsonValue | undefined, key: string): string {
  const field = isPlainObject(value) ? (value as JsonObject)[key] : undefined;
  return typeof field === 'string' ? field : '';
}

function kinds(words: string): ReadonlySet<JsonValue | undefined> {
  return new Set(words.split(' '));
}

function matches(pattern: RegExp, value: JsonValue | undefined): boolean {
  return typeof value === 'string' && pattern.test(value);
}

/** The lines of the start of a file, without the last one where it may be cut. */
export function wholeLines({ text, isCut }: LogHead): string[] {
  const lines = text.split('\n');
  return isCut ? lines.slice(0, -1) : lines;
}
