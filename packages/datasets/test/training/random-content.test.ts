import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { trainingFormatIds } from '../../src/index.ts';
import type { DropReason } from '../../src/training/training-call.ts';
import { documentedSchemas } from './documented-schemas.ts';
import { Talk, write } from './talk.ts';

const agents = ['agent_001', 'agent_002'];
const seeds = Array.from({ length: 60 }, (_, at) => at + 1);
const canary = 'Q0FOQVJZMTIz';
const encoded = Buffer.from(Array.from({ length: 900 }, (_, at) => (at * 91) % 256)).toString('base64');

/** One turn of a model, and the result in a format with a row for each call. */
interface Turn {
  readonly eventId: string;
  outcome: DropReason | 'row';
}

/** The truth about an agent while its log is made. */
interface Known {
  hasFile: boolean;
  hasEncoded: boolean;
  hasMessage: boolean;
  /** The turn whose call has no result, if it is the last one so far. */
  open: Turn | null;
}

/** An imported log, without recorded prompts, that notes what it contains while it makes it. */
class RandomLog {
  readonly talk = new Talk();
  readonly turns: Turn[] = [];
  readonly #random: () => number;
  readonly #known = new Map<string, Known>();
  #count = 0;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    for (const agent of agents) {
      this.talk.add('agent:created', { name: agent }, { agentId: agent });
      this.#known.set(agent, { hasFile: false, hasEncoded: false, hasMessage: false, open: null });
    }
    for (let step = 0; step < 40; step += 1) this.#step();
    for (const { open } of this.#known.values()) if (open?.outcome === 'row') open.outcome = 'dangling_call';
  }

  #step(): void {
    const agentId = agents[Math.floor(this.#random() * agents.length)] as string;
    const known = this.#known.get(agentId) as Known;
    const dice = this.#random();
    if (dice < 0.35) this.#tell(agentId, known);
    else if (dice < 0.4) this.#compact(agentId, known);
    else this.#answer(agentId, known);
  }

  #tell(agentId: string, known: Known): void {
    this.#count += 1;
    const hasEncoded = this.#random() < 0.04;
    this.talk.tell(agentId, hasEncoded ? `Read ${encoded}` : `Told ${this.#count}`);
    known.hasMessage = true;
    known.hasEncoded ||= hasEncoded;
    if (this.#random() > 0.06) return;
    this.talk.add('user:image' as never, { source: { type: 'base64', data: canary } }, { agentId });
    known.hasFile = true;
  }

  #compact(agentId: string, known: Known): void {
    const data = { trigger: 'auto', summary: `So far ${this.#count}.` };
    this.talk.add('session:compaction', data, { agentId });
    Object.assign(known, { hasFile: false, hasEncoded: false, hasMessage: true });
  }

  #answer(agentId: string, known: Known): void {
    this.#count += 1;
    const links = { agentId, messageId: `m${this.#count}` };
    for (let searches = Math.floor(this.#random() * 6) - 3; searches > 0; searches -= 1) {
      const call = this.#call(links, known, `s${this.#count}-${searches}`);
      this.#result(call, links, known, false);
    }
    if (this.#random() < 0.5) {
      this.#turn(this.talk.add('agent:text', { text: `Said ${this.#count}.` }, links), known);
    } else {
      const call = this.#call(links, known, `c${this.#count}`);
      if (this.#random() < 0.5) this.#result(call, { agentId }, known, this.#random() < 0.1);
    }
    const usage = { inputTokens: 1, outputTokens: 1 };
    this.talk.add('agent:inference', { model: 'small-1', usage }, links);
  }

  #call(links: { agentId: string; messageId: string }, known: Known, toolCallId: string): string {
    const values = [1, 'one', null, ['a'], { k: 1 }, '2026-01-01', true];
    const value = values[Math.floor(this.#random() * values.length)] as never;
    const input = this.#random() < 0.1 ? null : { value, [`key${this.#count}`]: value };
    const eventId = this.talk.add(
      'agent:tool_call',
      { toolCallId, tool: 'look', input, metadata: {} },
      links,
    );
    known.open = this.#turn(eventId, known);
    return toolCallId;
  }

  #result(
    toolCallId: string,
    links: { agentId: string; messageId?: string },
    known: Known,
    hasFile: boolean,
  ): void {
    const file = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: canary } };
    const text = { type: 'text', text: `Result ${toolCallId}`, encrypted_content: canary };
    const output = hasFile ? [text, file] : [text];
    const data = { toolCallId, tool: 'look', status: 'completed', output, metadata: {} };
    this.talk.add('agent:tool_result', data, links);
    known.open = null;
    known.hasFile ||= hasFile;
  }

  #turn(eventId: string, known: Known): Turn {
    const outcome = !known.hasMessage
      ? 'empty_prompt'
      : known.hasFile
        ? 'unshown_file'
        : known.hasEncoded
          ? 'encoded_bytes'
          : 'row';
    const turn: Turn = { eventId, outcome };
    this.turns.push(turn);
    known.open = null;
    known.hasMessage = true;
    return turn;
  }
}

/** By column: the JSON types of its values. Arrow needs one. */
function typesOf(value: unknown, column: string, found = new Map<string, Set<string>>()) {
  if (value === null) return found;
  const type = Array.isArray(value) ? 'list' : typeof value;
  found.set(column, (found.get(column) ?? new Set()).add(type));
  if (Array.isArray(value)) for (const item of value) typesOf(item, `${column}[]`, found);
  else if (type === 'object')
    for (const [key, item] of Object.entries(value as object)) typesOf(item, `${column}.${key}`, found);
  return found;
}

describe.each(trainingFormatIds)('the rows of %s, for any imported log', (format) => {
  it('are its turns without those that are dropped for a counted reason', async () => {
    const reasons = new Map<string, number>();
    for (const seed of seeds) {
      const { talk, turns } = new RandomLog(seed);
      const { rows, text, manifest } = await write(talk, { format });
      for (const row of rows) documentedSchemas[format].parse(row);
      const counts = new Map<string, number>();
      for (const { outcome } of turns) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      const dropped = Object.entries(manifest.dropped).map(([reason, { count }]) => [reason, count] as const);
      const all = dropped.reduce((sum, [, count]) => sum + count, 0);
      expect(manifest.calls.inRows + all, `seed ${seed}`).toBe(turns.length);
      for (const [reason, count] of dropped) {
        reasons.set(reason, (reasons.get(reason) ?? 0) + count);
        if (reason !== 'duplicate') expect(count, `seed ${seed}, ${reason}`).toBe(counts.get(reason));
      }
      const duplicates = manifest.dropped.duplicate?.count ?? 0;
      expect(manifest.calls.inRows + duplicates, `seed ${seed}`).toBe(counts.get('row') ?? 0);
      expect(manifest.calls.of, `seed ${seed}`).toBe(turns.length);
      if (format === 'trl')
        expect(new Set(rows.map(({ metadata }) => metadata.event_id)), `seed ${seed}`).toEqual(
          new Set(turns.flatMap(({ eventId, outcome }) => (outcome === 'row' ? [eventId] : []))),
        );
      expect(text, `seed ${seed}`).not.toContain(canary);
      expect(text, `seed ${seed}`).not.toContain(encoded);
    }
    for (const reason of ['unshown_file', 'encoded_bytes', 'dangling_call'])
      expect(reasons.get(reason), reason).toBeGreaterThan(10);
  });

  it('have one type for each column', async () => {
    for (const seed of seeds) {
      const { rows } = await write(new RandomLog(seed).talk, { format });
      const several = [...typesOf(rows, 'row')].filter(([, types]) => types.size > 1);
      expect(several, `seed ${seed}`).toEqual([]);
    }
  });
});
