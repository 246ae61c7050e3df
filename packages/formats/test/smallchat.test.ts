import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CapturedEvent, encodeEvent, parseEvent } from '@hansard/events';
import type { TranscriptEntry } from '@hansard/prompt';
import { corpus, isCorpusThere, randomFrom, skipped } from '@hansard/testing';
import { createLogIndex, type LogIndex } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { detectSessionFormat, sessionFormats } from '../src/index.ts';
import { type LoadedMessage, loadSmallchat } from './smallchat-loader.ts';
import { SmallchatWriter } from './smallchat-writer.ts';

const { read, write } = sessionFormats.smallchat;

interface Heard {
  readonly agent: string;
  readonly entry: string | null;
  readonly text: string;
}

interface Truth {
  readonly agents: Readonly<Record<string, { readonly name: string; readonly kind: string }>>;
  readonly transcripts: Readonly<Record<string, readonly LoadedMessage[]>>;
  readonly utterances: readonly {
    readonly id: string;
    readonly agent: string;
    readonly heard_by: readonly Heard[];
  }[];
  readonly fragments: Truth['utterances'];
}

const folder = join(corpus, 'smallchat');
const logs = isCorpusThere ? globSync('*.jsonl', { cwd: folder }).sort() : [];
const textOf = (file: string) => readFileSync(join(folder, file), 'utf8');
const stored = (events: readonly CapturedEvent[]) =>
  events.map((event) => parseEvent(JSON.parse(encodeEvent(parseEvent(event)))));

/** The messages of the current branch of each agent, in the form of smallchat, with parsed arguments. */
function transcriptsIn(index: LogIndex): Record<string, unknown> {
  const entries = [...index.transcripts].map(([agentId, messages]): [string, unknown[]] => [
    agentId,
    messages.filter(({ main }) => index.fateOf(main) === null).map(({ entry }) => messageOf(entry)),
  ]);
  return Object.fromEntries(entries.filter(([, messages]) => messages.length > 0));
}

function messageOf({ message }: TranscriptEntry): object {
  const { role, content, toolCalls, tool, toolCallId } = message;
  const calls = toolCalls?.map((call) => ({ id: call.toolCallId, name: call.tool, arguments: call.input }));
  return {
    role,
    ...(content === null ? {} : { content }),
    ...(calls === undefined ? {} : { tool_calls: calls }),
    ...(role === 'tool' ? { name: tool, tool_call_id: toolCallId } : {}),
  };
}

function inputsParsed(
  transcripts: Readonly<Record<string, readonly LoadedMessage[]>>,
): Record<string, unknown> {
  const parsed = (message: LoadedMessage) => ({
    ...message,
    ...(message.tool_calls === undefined
      ? {}
      : {
          tool_calls: message.tool_calls.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) })),
        }),
  });
  return Object.fromEntries(
    Object.entries(transcripts).flatMap(([id, messages]) =>
      messages.length === 0 ? [] : [[id, messages.map(parsed)]],
    ),
  );
}

/** Who received each text of an agent, and the entries by which. */
function heardIn(index: LogIndex): Map<string, string[]> {
  return new Map(
    index.sayings.map(({ id, hearings }) => [
      id,
      hearings.map(({ agentId, event }) => `${agentId}:${event.messageId ?? event.id}`),
    ]),
  );
}

describe('logs of smallchat', () => {
  it.skipIf(!isCorpusThere)(`come back as equal bytes, without diagnostics${skipped}`, () => {
    expect(logs.length).toBe(6);
    for (const file of logs) {
      const text = textOf(file);
      expect(detectSessionFormat(text), file).toBe('smallchat');
      const { events, report } = read(text);
      const written = write(stored(events));
      expect(written.text, file).toBe(text);
      expect({ ...written, text: '', reading: report.diagnostics }).toEqual({
        text: '',
        leftOut: {},
        diagnostics: [],
        omittedKeys: {},
        reading: [],
      });
    }
  });

  it.skipIf(!isCorpusThere)(`have the transcripts and hearings that smallchat says${skipped}`, () => {
    let heard = 0;
    for (const file of logs) {
      const truth: Truth = JSON.parse(textOf(file.replace('.jsonl', '.truth.json')));
      const index = createLogIndex(read(textOf(file)).events);
      expect(index.diagnostics.filter(({ code }) => code !== 'agent_name_shared')).toEqual([]);
      expect(transcriptsIn(index), file).toEqual(inputsParsed(truth.transcripts));
      const hearings = heardIn(index);
      for (const { id, heard_by: by } of [...truth.utterances, ...truth.fragments]) {
        // That the person receives the last answer is a rule of smallchat, and in no record.
        const expected = by.flatMap(({ agent, entry }) => (entry === null ? [] : [`${agent}:${entry}`]));
        expect(hearings.get(id) ?? [], `${file} ${id}`).toEqual(expected);
        heard += expected.length;
      }
      for (const [agentId, { name }] of Object.entries(truth.agents))
        expect(index.agents.get(agentId)?.name).toBe(name);
    }
    expect(heard).toBeGreaterThan(40);
  });

  it('come back as equal bytes with the transcripts and hearings of their writer, for random sessions', () => {
    const seeds = Number(process.env.HANSARD_SEEDS ?? 25);
    for (let seed = 1; seed <= seeds; seed += 1) {
      const { text, transcripts, heard } = new SmallchatWriter(randomFrom(seed)).write(1 + (seed % 5));
      const { events, report } = read(text);
      const kept = stored(events);
      expect(write(kept).text === text, `bytes of seed ${seed}`).toBe(true);
      expect(report.diagnostics.filter(({ code }) => code !== 'agent_id_replaced')).toEqual([]);
      const index = createLogIndex(kept);
      const messages = [...transcripts].map(([id, own]): [string, typeof own] => [eventAgent(id), own]);
      expect(transcriptsIn(index), `seed ${seed}`).toEqual(inputsParsed(Object.fromEntries(messages)));
      const hearings = heardIn(index);
      const expected = new Map([...heard].map(([id, by]) => [id, by.map(eventAgent)]));
      for (const [id, by] of expected)
        expect(hearings.get(id) ?? receiversOf(index, id), `seed ${seed} ${id}`).toEqual(by);
      for (const [id, by] of hearings)
        if (!expected.has(id) && index.find(id)?.event.data.source === undefined)
          expect(by, `seed ${seed} ${id}`).toEqual([]);
      const loaded = loadSmallchat(text);
      for (const [id, own] of transcripts) expect(loaded.agents.get(id)?.transcript).toEqual(own);
    }
  });
});

/** Who received an answer without text, which views do not count as said. */
function receiversOf(index: LogIndex, id: string): string[] {
  expect(index.find(id)?.event.data.text ?? '').toBe('');
  const received = index.events.filter(({ substance, cause }) => [substance, cause].flat().includes(id));
  return received.map((event) => `${event.agentId}:${event.id}`);
}

/** The id of an agent in events, which are ASCII. */
const eventAgent = (id: string) => id.replace(/[^\w:]/g, '_');
