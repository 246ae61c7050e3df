import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RenderedCall, renderCalls } from '@hansard/prompt';
import { createTokenCounter } from '@hansard/prompt/tokens';
import { describe, expect, it } from 'vitest';
import { openClaudeTranscript } from '../../src/index.ts';
import { readToEnd } from './transcripts.ts';

const corpus = process.env.HANSARD_CORPUS ?? join(import.meta.dirname, '../../../../../shared/fixtures');
const folder = join(corpus, 'claude-transcripts');
const isThere = existsSync(folder);
const skipped = isThere ? '' : ' (skipped: no corpus; HANSARD_CORPUS names its folder)';
const transcripts = isThere ? globSync('**/*.jsonl', { cwd: folder }).sort() : ['none'];

/** Test data of another project whose usage figures no model reported. */
const hasInventedUsage: ReadonlySet<string> = new Set(['edge-cases.jsonl']);

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly content?: string | readonly Block[];
}

interface Source {
  readonly type: string;
  readonly subtype?: string;
  readonly uuid?: string;
  readonly parentUuid?: string | null;
  readonly isApiErrorMessage?: boolean;
  readonly message?: {
    readonly id?: string;
    readonly model?: string;
    readonly content?: string | readonly Block[];
    readonly usage?: Readonly<Record<string, number>>;
  };
}

function recordsOf(path: string): Source[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as Source];
      } catch {
        return [];
      }
    });
}

/** The texts that a record gave to the model. Images and other blocks are left out. */
function textsOf(content: string | readonly Block[] | undefined): string[] {
  if (typeof content === 'string') return [content];
  return (content ?? []).flatMap(({ type, text, content: inner }) =>
    type === 'text' ? [text ?? ''] : type === 'tool_result' ? textsOf(inner) : [],
  );
}

interface ModelCall {
  readonly tokens: number;
  readonly isCompacted: boolean;
  readonly texts: readonly string[];
}

/** What the records say about each model call: its usage, and the texts on the chain of parents before it. */
function callsOf(records: readonly Source[]): Map<string, ModelCall> {
  const byUuid = new Map(records.map((record) => [record.uuid, record]));
  const calls = new Map<string, ModelCall>();
  for (const { type, parentUuid, message } of records) {
    const { id, usage, model } = message ?? {};
    if (type !== 'assistant' || id === undefined || usage === undefined || model === '<synthetic>') continue;
    const { input_tokens = 0, cache_read_input_tokens = 0, cache_creation_input_tokens = 0 } = usage;
    const tokens = input_tokens + cache_read_input_tokens + cache_creation_input_tokens;
    const before = calls.get(id);
    const texts: string[] = [];
    let isCompacted = false;
    if (before === undefined) {
      let parent = byUuid.get(parentUuid ?? '');
      for (; parent !== undefined; parent = byUuid.get(parent.parentUuid ?? '')) {
        isCompacted ||= parent.subtype === 'compact_boundary';
        // An error of the API is never sent.
        const isSent = parent.isApiErrorMessage !== true && parent.message?.id !== id;
        if (parent.message !== undefined && isSent) texts.push(...textsOf(parent.message.content));
      }
    }
    calls.set(id, { isCompacted, texts, ...before, tokens });
  }
  return calls;
}

const shown = ({ messages }: RenderedCall) => messages.map(({ text }) => text).join('\n');

/** A result with several blocks is JSON in the prompt. */
const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

describe('the prompts of recorded sessions, by the links of their records', () => {
  it.skipIf(!isThere).each(transcripts)(
    `%s: hold every message up to the last compaction, and no more than the model received${skipped}`,
    async (name) => {
      const path = join(folder, name);
      const { events } = await readToEnd(await openClaudeTranscript(path, { subAgents: [] }));
      const calls = callsOf(recordsOf(path));
      const counters = [await createTokenCounter()];
      for (const rendered of renderCalls(events, { counters })) {
        const call = calls.get(rendered.inference.messageId ?? '');
        if (call === undefined) continue;
        const prompt = shown(rendered);
        const missing = call.texts.filter((text) => !prompt.includes(text) && !prompt.includes(inJson(text)));
        expect(missing.map((text) => text.slice(0, 80))).toEqual([]);
        if (call.isCompacted) expect(rendered.messages[0]?.text === call.texts.at(-1)).toBe(true);
        if (!hasInventedUsage.has(name))
          expect(rendered.manifest.tokens?.prompt).toBeLessThanOrEqual(call.tokens);
      }
    },
  );
});
