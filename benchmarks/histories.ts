/**
 * Measures the import of a session of each history format into the JSON-file store beside `JSON.parse` of the same texts (of a database: beside reading its
 * rows and parsing them), and beside a copy: reading the lines, parsing, encoding, a checksum and writing. In processor time of all threads, each in a process of its own; medians of three. `HANSARD_HISTORY_MB` sets the size of the
 * sources (default: 30). Arguments name formats; without one, all are measured.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { readLines } from '@hansard/claude';
import { openDispatchStore } from '@hansard/dispatch';
import { importLogs } from '@hansard/import';
import { median } from './measure.ts';
import { report, rounded } from './report.ts';
import { openStore } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { writeTranscript } from './transcripts.ts';

const heapFlags = ['--max-semi-space-size=8', '--heap-growing-percent=30'];
const sentence = 'The route table has three candidates;\nthe second one is cheaper at night. ';
const most = Number(process.env.HANSARD_HISTORY_MB ?? 30) * 1e6;
const start = Date.parse('2026-03-01T09:30:00.000Z');
const time = (at: number) => new Date(start + at * 1_000).toISOString();
const tokens = { input: 900, output: 30, cached: 800, thoughts: 5, tool: 0, total: 935 };
const usage = {
  input: 100,
  output: 30,
  cacheRead: 800,
  cacheWrite: 0,
  totalTokens: 930,
  cost: { total: 0.01 },
};

/** The records of one round of each format of lines: a thought, a text, a call and its output of 3 kB. */
const rounds: Record<string, (round: number) => object[]> = {
  'gemini-cli'(round) {
    if (round === 0) return [{ sessionId: 's', projectHash: 'ab', startTime: time(0), kind: 'main' }];
    const thoughts = [{ subject: 'Plan', description: sentence, timestamp: time(round) }];
    const answer = {
      id: `m-${round}`,
      timestamp: time(round),
      type: 'gemini',
      content: sentence,
      thoughts,
      tokens,
      model: 'gemini-2.5-pro',
    };
    const response = {
      functionResponse: { id: `c-${round}`, name: 'shell', response: { output: sentence.repeat(40) } },
    };
    const call = {
      id: `c-${round}`,
      name: 'shell',
      args: { command: sentence },
      result: [response],
      status: 'success',
      timestamp: time(round),
    };
    return [
      answer,
      { ...answer, toolCalls: [call] },
      { id: `r-${round}`, timestamp: time(round), type: 'user', content: [response] },
    ];
  },
  pi(round) {
    if (round === 0) return [{ type: 'session', version: 3, id: 's', timestamp: time(0), cwd: '/srv' }];
    const entry = (name: string, before: string | null, message: object) => ({
      type: 'message',
      id: `${name}${round}`,
      parentId: before,
      timestamp: time(round),
      message,
    });
    const content = [
      { type: 'thinking', thinking: sentence.repeat(2) },
      { type: 'text', text: sentence },
      { type: 'toolCall', id: `c-${round}`, name: 'bash', arguments: { command: sentence } },
    ];
    const output = [{ type: 'text', text: sentence.repeat(40) }];
    return [
      entry('a', round === 1 ? null : `b${round - 1}`, {
        role: 'assistant',
        content,
        model: 'm',
        usage,
        stopReason: 'toolUse',
      }),
      entry('b', `a${round}`, {
        role: 'toolResult',
        toolCallId: `c-${round}`,
        toolName: 'bash',
        content: output,
        isError: false,
      }),
    ];
  },
  'qwen-code'(round) {
    const record = (name: string, type: string, more: object) => ({
      uuid: `${name}${round}`,
      parentUuid: null,
      sessionId: 's',
      timestamp: time(round),
      type,
      cwd: '/srv',
      ...more,
    });
    const usageMetadata = {
      promptTokenCount: 900,
      candidatesTokenCount: 30,
      totalTokenCount: 930,
      cachedContentTokenCount: 800,
    };
    const call = { functionCall: { id: `c-${round}`, name: 'shell', args: { command: sentence } } };
    const response = {
      functionResponse: { id: `c-${round}`, name: 'shell', response: { output: sentence.repeat(40) } },
    };
    return [
      record('a', 'assistant', {
        model: 'm',
        usageMetadata,
        message: {
          role: 'model',
          parts: [{ text: sentence.repeat(2), thought: true }, { text: sentence }, call],
        },
      }),
      record('b', 'tool_result', {
        message: { role: 'user', parts: [response] },
        toolCallResult: { callId: `c-${round}`, status: 'success' },
      }),
    ];
  },
  'copilot-cli'(round) {
    const event = (name: string, type: string, data: object) => ({
      type,
      data,
      id: `${name}${round}`,
      timestamp: time(round),
      parentId: null,
    });
    const call = { toolCallId: `c-${round}`, name: 'bash', arguments: { command: sentence } };
    return [
      event('a', 'session.usage_record', {
        usage: {
          model: 'm',
          inputTokens: 900,
          outputTokens: 30,
          cacheReadTokens: 800,
          apiCallId: `p-${round}`,
        },
      }),
      event('b', 'assistant.message', {
        messageId: `m-${round}`,
        content: sentence,
        reasoningText: sentence.repeat(2),
        toolRequests: [call],
        apiCallId: `p-${round}`,
      }),
      event('c', 'tool.execution_complete', {
        toolCallId: `c-${round}`,
        success: true,
        result: { content: sentence.repeat(40) },
      }),
    ];
  },
  codex(round) {
    const line = (type: string, payload: object) => ({ timestamp: time(round), type, payload });
    if (round === 0)
      return [line('session_meta', { id: '0199a213-0000-7000-8000-000000000001', cwd: '/srv' })];
    const total_token_usage = {
      input_tokens: 900 * round,
      cached_input_tokens: 800 * round,
      output_tokens: 30 * round,
    };
    const info = { total_token_usage, last_token_usage: { input_tokens: 900, output_tokens: 30 } };
    const summary = [{ type: 'summary_text', text: sentence.repeat(2) }];
    const call = { type: 'function_call', name: 'shell', call_id: `call_${round}` };
    const output = { type: 'function_call_output', call_id: `call_${round}`, output: sentence.repeat(40) };
    return [
      line('response_item', { type: 'reasoning', summary, encrypted_content: 'gAAA'.repeat(300) }),
      line('response_item', { ...call, arguments: JSON.stringify({ command: ['rg', sentence] }) }),
      line('response_item', output),
      line('event_msg', { type: 'token_count', info }),
    ];
  },
  atif(round) {
    if (round === 0) return [];
    const call = { tool_call_id: `c-${round}`, function_name: 'bash', arguments: { command: sentence } };
    const result = { source_call_id: `c-${round}`, content: sentence.repeat(40) };
    return [
      {
        step_id: round,
        timestamp: time(round),
        source: 'agent',
        model_name: 'm',
        message: sentence,
        reasoning_content: sentence.repeat(2),
        tool_calls: [call],
        observation: { results: [result] },
        metrics: { prompt_tokens: 900, completion_tokens: 30, cached_tokens: 800 },
      },
    ];
  },
};

const formats = ['claude-code', ...Object.keys(rounds), 'opencode'];

function writeSource(format: string, path: string): void {
  if (format === 'opencode') {
    writeDatabase(path);
    return;
  }
  if (format === 'claude-code') {
    writeTranscript(path, most);
    return;
  }
  const isDocument = format === 'atif';
  const file = openSync(path, 'w');
  if (isDocument) {
    const agent = { name: 'a', version: '1', model_name: 'm' };
    const facts = JSON.stringify({ schema_version: 'ATIF-v1.7', session_id: 's', agent });
    writeSync(file, `${facts.slice(0, -1)},"steps":[`);
  }
  let written = 0;
  for (let round = 0; written < most; round += 1)
    for (const record of rounds[format]?.(round) ?? []) {
      const text = JSON.stringify(record);
      written += writeSync(file, isDocument ? `${written === 0 ? '' : ','}${text}` : `${text}\n`);
    }
  if (isDocument) writeSync(file, ']}');
  closeSync(file);
}

function writeDatabase(path: string): void {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = OFF; BEGIN;
    CREATE TABLE session (id text PRIMARY KEY, directory text, title text, time_created integer, time_updated integer);
    CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
    CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text);
    CREATE INDEX part_message_id_id_idx ON part (message_id, id);
    INSERT INTO session VALUES ('s', '/srv', 'Routes', ${start}, ${start})`);
  const addMessage = database.prepare('INSERT INTO message VALUES (?, ?, ?, ?, ?)');
  const addPart = database.prepare('INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)');
  const step = {
    tokens: { input: 100, output: 25, reasoning: 5, cache: { read: 800, write: 0 } },
    cost: 0.01,
  };
  let written = 0;
  for (let round = 1; written < most; round += 1) {
    const id = `msg_${String(round).padStart(8, '0')}`;
    addMessage.run(
      id,
      's',
      start,
      start,
      JSON.stringify({
        role: 'assistant',
        modelID: 'm',
        time: { created: start, completed: start },
        ...step,
      }),
    );
    const state = {
      status: 'completed',
      input: { command: sentence },
      output: sentence.repeat(40),
      metadata: { exit: 0 },
      time: { start, end: start + 1 },
    };
    const parts = [
      { type: 'reasoning', text: sentence.repeat(2) },
      { type: 'text', text: sentence },
      { type: 'tool', tool: 'bash', callID: `c-${round}`, state },
      { type: 'step-finish', reason: 'stop', ...step },
    ];
    for (const [at, part] of parts.entries()) {
      const data = JSON.stringify(part);
      written += data.length;
      addPart.run(`prt_${String(round).padStart(8, '0')}${at}`, id, 's', start, start, data);
    }
  }
  database.exec('COMMIT');
  database.close();
}

/** The processor time of a step, in milliseconds. */
function timed(step: () => void): number {
  const before = process.cpuUsage();
  step();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e3;
}

const works: Record<string, (file: string, root: string) => Promise<number> | number> = {
  /** Reading the rows of a database counts. Of a file, only the parsing counts. */
  parse(file) {
    if (file.endsWith('.db'))
      return timed(() => {
        const database = new DatabaseSync(file, { readOnly: true });
        for (const table of ['session', 'message', 'part'])
          for (const { data } of database.prepare(`SELECT * FROM ${table}`).iterate())
            if (typeof data === 'string') JSON.parse(data);
      });
    const text = readFileSync(file, 'utf8');
    const texts = file.endsWith('.json') ? [text] : text.trimEnd().split('\n');
    return timed(() => {
      for (const line of texts) JSON.parse(line);
    });
  },
  /** The steps that no import can avoid, for a file of lines. */
  async copy(file, root) {
    if (!file.endsWith('.jsonl')) return 0;
    const before = process.cpuUsage();
    const to = openSync(root, 'w');
    for await (const { text } of readLines(file)) {
      const bytes = Buffer.from(JSON.stringify(JSON.parse(text)));
      if (crc32(bytes) >= 0) writeSync(to, bytes);
    }
    closeSync(to);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e3;
  },
  async import(file, root) {
    const before = process.cpuUsage();
    {
      await using store = openDispatchStore(await openStore('store-jsonfile', root));
      for await (const item of importLogs(store, [file], { task: 'benchmarks/tasks/histories' }))
        if (item.kind !== 'imported')
          throw new Error(item.kind, { cause: 'error' in item ? item.error : item });
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e3;
  },
};

const [name = '', file = '', root = ''] = process.argv.slice(2);
const work = works[name];
if (work === undefined) for (const format of name === '' ? formats : process.argv.slice(2)) measure(format);
else process.stdout.write(JSON.stringify([await work(file, root), process.resourceUsage().maxRSS / 1e3]));

function measure(format: string): void {
  const folder = temporaryFolder('bench-histories');
  const names: Record<string, string> = { opencode: 'opencode.db', atif: 'trajectory.json' };
  const path = join(folder, names[format] ?? 'session.jsonl');
  writeSource(format, path);
  const taken = (step: string, round: number) => {
    const args = [...process.execArgv, ...heapFlags, import.meta.filename, step, path];
    const store = join(folder, `store-${round}`);
    const printed = execFileSync(process.execPath, [...args, store], { encoding: 'utf8' });
    rmSync(store, { recursive: true, force: true });
    return JSON.parse(printed) as [number, number];
  };
  const measured = [1, 2, 3].map((round) => ({
    parse: taken('parse', round),
    copy: taken('copy', round),
    import: taken('import', round),
  }));
  const of = (step: 'parse' | 'copy' | 'import') => median(measured.map((round) => round[step][0]));
  report(
    {
      ...{ benchmark: `histories, ${format}`, megabytes: rounded(statSync(path).size / 1e6) },
      ...{ parsingMs: rounded(of('parse')), copyMs: rounded(of('copy')) },
      importMs: rounded(of('import')),
      ofParsing: rounded(of('import') / of('parse')),
      megabytesResident: rounded(median(measured.map((round) => round.import[1]))),
    },
    [
      { key: 'ofParsing', atMost: 6 },
      { key: 'megabytesResident', atMost: 220 },
    ],
  );
  rmSync(folder, { recursive: true });
}
