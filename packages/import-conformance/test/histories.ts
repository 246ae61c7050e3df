import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { CapturedEvent } from '@hansard/events';
import type { LogImporterProvider } from '@hansard/provider';
import { importAll, openStore, pathsOf, storedIn } from '../src/importing.ts';
import type { RandomChoices, WrittenRecord } from '../src/index.ts';
import { filesAfter, SourceFolder } from '../src/written-source.ts';
import { copilotSession } from './copilot-source.ts';
import { geminiDocument, geminiLines } from './gemini-source.ts';
import { openCodeGoDatabase } from './opencode-go-source.ts';
import { openCodeDatabase } from './opencode-source.ts';
import { piSession } from './pi-source.ts';
import { qwenSession } from './qwen-source.ts';

export type Fields = Record<string, unknown>;

/** A format of histories, with a writer of random sources and a second counter of what a source says. Both share no code with its importer. */
export interface HistoryFormat {
  readonly name: string;
  readonly importer: string;
  readonly write: (random: RandomChoices) => readonly WrittenRecord[];
  /** Real files, below the folder of fixtures. */
  readonly files: readonly string[];
  /** The records of a real file. */
  readonly read: (path: string) => readonly Fields[];
  /** The kind of a record, for a comparison with real ones. */
  readonly kind: (record: Fields) => string;
  /** The model calls of a source and their tokens, of input and output together, and the calls of tools. */
  readonly count: (records: readonly Fields[]) => Counted;
}

export interface Counted {
  readonly calls: number;
  readonly tokens: number;
  readonly toolCalls: number;
}

const sum = (amounts: readonly unknown[]) =>
  amounts.reduce<number>((total, amount) => total + Number(amount ?? 0), 0);

/** The last tokens of each message, also of those that a resume writes again without them. */
function countGemini(records: readonly Fields[]): Counted {
  const last = new Map<unknown, Fields>();
  const toolCalls = new Set<unknown>();
  for (const { id, tokens, toolCalls: calls = [] } of records) {
    if (Number((tokens as Fields | undefined)?.total ?? 0) > 0) last.set(id, tokens as Fields);
    for (const call of calls as Fields[]) toolCalls.add(call.id);
  }
  const tokens = sum([...last.values()].map(({ total }) => total));
  return { calls: last.size, tokens, toolCalls: toolCalls.size };
}

/** A call is a part that ends a step. */
function countOpenCode(records: readonly Fields[]): Counted {
  const parts = records.flatMap(({ message_id: message, data }) =>
    message === undefined ? [] : [data as Fields],
  );
  const steps = parts.filter(({ type }) => type === 'step-finish').map(({ tokens }) => tokens as Fields);
  const tools = parts.filter(({ type, state }) => type === 'tool' && (state as Fields).status !== 'pending');
  return { calls: steps.length, tokens: sum(steps.map(({ total }) => total)), toolCalls: tools.length };
}

/** Every usage of an entry, each entry once. */
function countPi(records: readonly Fields[]): Counted {
  const messages = records.flatMap(({ message }) => (message === undefined ? [] : [message as Fields]));
  const usages = [...messages, ...records].flatMap(({ usage }) =>
    usage === undefined ? [] : [usage as Fields],
  );
  const used = usages
    .map(({ input, output, cacheRead, cacheWrite }) => sum([input, output, cacheRead, cacheWrite]))
    .filter((tokens) => tokens > 0);
  const blocks = messages.flatMap(({ role, content }) => (role === 'assistant' ? (content as Fields[]) : []));
  return {
    calls: used.length,
    tokens: sum(used),
    toolCalls: blocks.filter(({ type }) => type === 'toolCall').length,
  };
}

/** The usage of this agent, and the calls of agents that the program itself runs. */
function countQwen(records: readonly Fields[]): Counted {
  const own = records.flatMap(({ usageMetadata }) =>
    usageMetadata === undefined ? [] : [Number((usageMetadata as Fields).totalTokenCount)],
  );
  const managed = records.flatMap(({ systemPayload }) => {
    const event = ((systemPayload as Fields | undefined)?.uiEvent ?? {}) as Fields;
    return String(event['event.name']).endsWith('api_response') &&
      String(event.subagent_type).startsWith('managed-')
      ? [Number(event.total_token_count)]
      : [];
  });
  const parts = records.flatMap(({ type, message }) =>
    type === 'assistant' ? ((message as Fields).parts as Fields[]) : [],
  );
  const used = [...own, ...managed];
  return {
    calls: used.length,
    tokens: sum(used),
    toolCalls: parts.filter(({ functionCall }) => functionCall !== undefined).length,
  };
}

function countCopilot(records: readonly Fields[]): Counted {
  const of = (wanted: string) =>
    records.flatMap(({ type, data }) => (type === wanted ? [data as Fields] : []));
  const usages = of('session.usage_record').map(({ usage }) => usage as Fields);
  const tokens = usages.map(({ inputTokens, outputTokens }) => sum([inputTokens, outputTokens]));
  const requests = of('assistant.message').flatMap(({ toolRequests }) => toolRequests as Fields[]);
  return { calls: usages.length, tokens: sum(tokens), toolCalls: requests.length };
}

/** The rows of a database, with the columns that hold JSON as values. */
function rowsOf(path: string, tables: readonly string[]): Fields[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = tables.flatMap((table) => database.prepare(`SELECT * FROM ${table}`).all());
  database.close();
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([key, value]) => [key, parsed(value)])),
  );
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

const typeOf = ({ type, $set }: Fields) =>
  typeof type === 'string' ? type : $set === undefined ? 'head' : 'set';

/** The events of one import of a source. */
export async function eventsOf(
  importer: LogImporterProvider,
  records: readonly WrittenRecord[],
): Promise<readonly CapturedEvent[]> {
  using folder = new SourceFolder();
  await using store = openStore();
  folder.put(filesAfter(records));
  await importAll(store, importer, pathsOf(importer, folder, records));
  return (await storedIn(store)).flatMap(({ events }) => events);
}

/** The calls of events, as sums count them. */
export function countEvents(events: readonly CapturedEvent[]): Counted {
  const of = (wanted: string) =>
    events.filter(({ type, id }) => type === wanted && !/:rewritten-\d+$/.test(id));
  const calls = of('agent:inference');
  const tokens = calls.map(({ data }) => {
    const usage = data.usage as Fields;
    return sum([usage.inputTokens, usage.outputTokens, usage.cacheReadTokens, usage.cacheWriteTokens]);
  });
  return { calls: calls.length, tokens: sum(tokens), toolCalls: of('agent:tool_call').length };
}

const linesOf = (text: string): Fields[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

export const historyFormats: readonly HistoryFormat[] = [
  {
    name: 'gemini-cli, document',
    importer: 'gemini-cli',
    write: geminiDocument,
    files: ['gemini/*.json'],
    read(path) {
      const { messages, ...members } = JSON.parse(readFileSync(path, 'utf8'));
      return [members, ...messages];
    },
    kind: typeOf,
    count: countGemini,
  },
  {
    name: 'gemini-cli, lines',
    importer: 'gemini-cli',
    write: geminiLines,
    files: ['agents/gemini-*/**/*.jsonl'],
    read: (path) => linesOf(readFileSync(path, 'utf8')),
    kind: typeOf,
    count: countGemini,
  },
  {
    name: 'opencode',
    importer: 'opencode',
    write: openCodeDatabase,
    files: ['agents/opencode-*/opencode.db'],
    read: (path) => rowsOf(path, ['session', 'message', 'part']),
    kind: ({ slug, message_id: message }) =>
      slug !== undefined ? 'session' : message === undefined ? 'message' : 'part',
    count: countOpenCode,
  },
  {
    name: 'pi',
    importer: 'pi',
    write: piSession,
    files: ['pi/*.jsonl', 'agents/pi-*/**/*.jsonl'],
    read: (path) => linesOf(readFileSync(path, 'utf8')),
    kind: ({ type, message }) => `${type}/${(message as Fields | undefined)?.role ?? ''}`,
    count: countPi,
  },
  {
    name: 'qwen-code',
    importer: 'qwen-code',
    write: qwenSession,
    files: ['agents/qwen-*/projects/**/*.jsonl'],
    read: (path) => linesOf(readFileSync(path, 'utf8')),
    kind: ({ type, subtype }) => `${type}/${subtype ?? ''}`,
    count: countQwen,
  },
  {
    name: 'copilot-cli',
    importer: 'copilot-cli',
    write: copilotSession,
    files: ['agents/copilot-*/**/events.jsonl'],
    read: (path) => linesOf(readFileSync(path, 'utf8')),
    kind: ({ type }) => String(type),
    count: countCopilot,
  },
  {
    name: 'opencode-go',
    importer: 'opencode-go',
    write: openCodeGoDatabase,
    files: ['opencode-go/opencode.db'],
    read: (path) => rowsOf(path, ['sessions', 'messages', 'files']),
    kind: ({ title, content }) =>
      title !== undefined ? 'session' : content !== undefined ? 'file' : 'message',
    // The database has the tokens of the last call alone.
    count: (records) => ({
      calls: 0,
      tokens: 0,
      toolCalls: records
        .flatMap(({ parts = [] }) => (Array.isArray(parts) ? parts : []))
        .filter(({ type }) => type === 'tool_call').length,
    }),
  },
];
