import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CapturedEvent } from '@hansard/events';
import { type ContextMessage, renderCalls } from '@hansard/prompt';
import { describe, expect, it } from 'vitest';
import { readTranscript } from '../transcript/transcripts.ts';
import { type ChainMessage, ParentChain } from './parent-chain.ts';
import { type Prompts, rendererMutants } from './renderer-mutants.ts';

const corpus = process.env.HANSARD_CORPUS ?? join(import.meta.dirname, '../../../../../shared/fixtures');
const folder = join(corpus, 'claude-transcripts');
const isThere = existsSync(folder);
const skipped = isThere ? '' : ' (skipped: no corpus; HANSARD_CORPUS names its folder)';

/** A transcript without a compaction, whole or as it was when it had fewer records. */
interface Session {
  readonly name: string;
  readonly lines: string;
}

/** Sessions of at least this many lines are also compared as they were at a third and at two thirds of them. */
const longSession = 30;

function sessionsOf(name: string): Session[] {
  const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
  const boundary = lines.findIndex((line) => new ParentChain(line).isCompacted);
  const count = boundary < 0 ? lines.length : boundary;
  const parts = count < longSession ? [1] : [1 / 3, 2 / 3, 1];
  return parts.map((part) => {
    const end = Math.round(count * part);
    return { name: `${name}, lines 1 to ${end}`, lines: `${lines.slice(0, end).join('\n')}\n` };
  });
}

const sessions = isThere ? globSync('**/*.jsonl', { cwd: folder }).sort().flatMap(sessionsOf) : [];

/** The message as the chain has it, without the text of an error whose text no record has. */
function asChain(message: ContextMessage, expected: ChainMessage | undefined): ChainMessage {
  if (message.role === 'assistant')
    return { role: 'assistant', text: message.text, calls: message.toolCalls };
  if (message.role !== 'tool') return { role: 'user', text: message.text };
  const { role, toolCallId, text, isError } = message;
  const isRecorded = expected?.role !== 'tool' || expected.text !== null;
  return { role, toolCallId, text: isRecorded ? text : null, isError };
}

/** How many messages were compared, and the calls whose prompt is not the chain of their parents. */
interface Compared {
  messages: number;
  readonly wrong: string[];
}

async function compareSession({ name, lines }: Session, render = rendered, into: Compared = none()) {
  const { events } = await readTranscript(lines);
  const prompts = render(events);
  const expected = new ParentChain(lines).prompts;
  for (const { messageId, isOpen, messages } of expected) {
    const found = prompts.get(messageId);
    if (found === undefined && isOpen) continue;
    into.messages += messages.length;
    const [is, should] = [
      found?.map((message, place) => asChain(message, messages[place])) ?? [],
      messages,
    ].map((list) => list.map((message) => JSON.stringify(message)));
    const at = should?.findIndex((message, place) => message !== is?.[place]) ?? -1;
    if (found === undefined || at >= 0 || is?.length !== should?.length)
      into.wrong.push(`${name}: ${messageId}, message ${at}: ${is?.[at]}, not ${should?.[at]}`);
  }
  const known = new Set(expected.map(({ messageId }) => messageId));
  for (const id of prompts.keys()) if (!known.has(id)) into.wrong.push(`${name}: ${id} is no answer`);
  return into;
}

function none(): Compared {
  return { messages: 0, wrong: [] };
}

function rendered(events: readonly CapturedEvent[]): Prompts {
  return new Map(
    [...renderCalls(events)].map(({ inference, messages }) => [
      inference.messageId ?? inference.id,
      messages,
    ]),
  );
}

describe('the prompts of sessions without a compaction', () => {
  it.skipIf(!isThere)(
    `are exactly the messages on the chain of parents, in at least 20 transcripts${skipped}`,
    async () => {
      const compared = none();
      let strict = 0;
      for (const session of sessions) {
        const before = compared.messages;
        await compareSession(session, rendered, compared);
        if (compared.messages > before) strict += 1;
      }
      expect(compared.wrong).toEqual([]);
      expect(strict).toBeGreaterThanOrEqual(20);
      expect(compared.messages).toBeGreaterThanOrEqual(5_000);
    },
  );

  it.skipIf(!isThere).each(rendererMutants)(
    `would be wrong if a renderer $name${skipped}`,
    async ({ render }) => {
      const compared = none();
      for (const session of sessions.filter(({ name }) => name.startsWith('growing')))
        await compareSession(session, (events) => render(rendered(events)), compared);
      expect(compared.wrong.length).toBeGreaterThan(0);
    },
  );
});
