import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { canariesIn, sampleEvents } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { exported, textOf } from './exported.ts';
import { envelope, event, oneDispatch, parentId } from './sample-run.ts';

/** The fields whose texts a trace without content has as names, ids or kinds. The texts of all other fields are content. */
const named = [
  'agent:created agentId',
  'agent:created cause',
  'agent:created data.languageModel',
  'agent:created data.name',
  'agent:inference data.model',
  'agent:inference data.stopReason',
  'agent:text agentId',
  'agent:text cause.0',
  'agent:text messageId',
  'agent:text via',
  'agent:tool_call data.tool',
  'agent:tool_call data.toolCallId',
  'agent:tool_result data.tool',
  'agent:tool_result data.toolCallId',
  'envelope botId',
  'envelope dispatchId',
  'envelope fidelity',
  'envelope model',
  'envelope parentDispatchId',
  'envelope role',
  'envelope status',
  'envelope taskSlug',
  'game:death type',
  'harness:error data.code',
  'harness:hook_decision data.decision',
  'harness:hook_decision data.hook',
  'harness:hook_decision data.madeFrom.0',
  'harness:hook_decision data.on',
  'harness:hook_decision data.previous',
  'harness:hook_decision data.subject',
  'harness:loop_kill data.tool',
  'harness:loop_warning data.tool',
  'session:compaction data.trigger',
  'session:init data.sessionId',
  'user:message data.source.agentId',
  'user:message data.source.dispatchId',
  'user:message data.source.kind',
  'user:message data.source.what',
];

/** Optional fields that the samples do not have. */
const more: Readonly<Record<string, object>> = {
  'user:message': { source: { kind: 'external', what: 'file', agentId: 'agent_001', dispatchId: 'd1' } },
  'agent:tool_result': { error: 'e', details: { model: 'm' } },
  'agent:inference': { replay: { any: 'r' } },
  'session:complete': {
    reason: 'r',
    errors: ['e'],
    models: [{ model: 'm', inputTokens: 1, outputTokens: 1 }],
  },
  'harness:loop_warning': { calls: [{ tool: 't', target: 't' }], results: ['e1'] },
  'harness:hook_decision': { previous: 'h', madeFrom: ['u'], given: 'g', text: 't', input: { path: 'p' } },
};

/** Values of several lines, and of many characters. */
const tails = { 'lines with words after the first': '\n', 'one line of many words': ` ${'-'.repeat(300)} ` };

describe('a name in a trace without content', () => {
  it.each(Object.entries(tails))(
    'is cut to a line of 200 characters if a source wrote %s',
    async (_, tail) => {
      const planted = new Planted(tail);
      const run = oneDispatch(planted.events, planted.envelope);
      const found = canariesIn(await textOf(run, { reasoning: true }));
      const shown = (kind: string) =>
        planted.fields.filter((_, index) => found.has(`${kind}_1_${index}_`)).sort();
      expect(shown('SECRET')).toEqual([]);
      expect(shown('KEPT')).toEqual(named);
      const { spans, logs } = await exported(run);
      const longest = Math.max(
        ...[...spans, ...logs].flatMap(({ name, attributes }) => textLengths(name, attributes)),
      );
      expect(longest).toBeLessThan(500);
      // Spans that need a name of the log have the first line of it.
      expect(spans.map(({ name }) => name.split(/ |_1_/)[1])).toEqual(spans.map(() => 'KEPT'));
    },
  );

  it.each(['/home/ann/secret-plan/cafe.yaml', 'plans\\secret-plan\\cafe.yml', 'C:\\secret-plan\\cafe.json'])(
    'is that of the scenario, and not of its file: %s',
    async (path) => {
      const model = `scripted:${path}`;
      const usage = { inputTokens: 1, outputTokens: 1 };
      const events = [
        event('a1', 1, 'agent:created', { name: 'Ann', languageModel: model }, { agentId: 'a' }),
        event('t1', 2, 'agent:text', { text: 'hello' }, { agentId: 'a', messageId: 'm' }),
        event('i1', 3, 'agent:inference', { model, usage }, { agentId: 'a', messageId: 'm' }),
        event('t2', 4, 'agent:text', { text: 'hello' }, { messageId: 'n' }),
      ];
      const text = await textOf(oneDispatch(events, { model }));
      expect(text).toContain('scripted:cafe"');
      expect(text).not.toMatch(/secret-plan|cafe\.(yaml|yml|json)/);
    },
  );

  it('is cut with content as well: the whole text is in the content', async () => {
    const tool = 'Bash\nSECRET_1_1_';
    const call = event('c1', 1, 'agent:tool_call', { toolCallId: 'k', tool, metadata: {} });
    for (const content of ['events', 'spans'] as const) {
      const { spans, logs } = await exported(oneDispatch([call]), { content });
      expect(spans.map(({ name }) => name)).toContain('execute_tool Bash');
      expect(spans.every(({ attributes }) => attributes['gen_ai.tool.name'] !== tool)).toBe(true);
      expect(JSON.stringify([spans.map((span) => span.attributes), logs.map(({ body }) => body)])).toContain(
        'SECRET_1_1_',
      );
    }
  });

  it('keeps the uid of a log record whole, of ids of any length that a log can have', async () => {
    const ids = ['a', 'b'].map((end) => `${'i'.repeat(127)}${end}`);
    const said = ids.map((id) => event(id, 1, 'harness:abort', {}));
    const { logs } = await exported(oneDispatch(said, { dispatchId: 'd'.repeat(128) }));
    expect(logs.map(({ attributes }) => attributes['log.record.uid'])).toEqual(
      ids.map((id) => `${'d'.repeat(128)}:${id}`),
    );
  });
});

/** One event of each type and an envelope, with a text of its own in each field, of which a trace can only show the start. */
class Planted {
  readonly fields: string[] = [];
  readonly envelope: DispatchEnvelope;
  readonly events: readonly CapturedEvent[];
  readonly #tail: string;

  constructor(tail: string) {
    this.#tail = tail;
    const links = { agentId: 'a', messageId: 'm', cause: ['c'], via: 'v' };
    const samples = Object.values(sampleEvents).map((sample) => ({
      ...sample,
      data: { ...sample.data, ...more[sample.type] },
      ...(sample.type === 'agent:text' ? links : {}),
      ...(sample.type === 'agent:created' ? { agentId: 'b', cause: 'e5' } : {}),
    }));
    const { startedAt, completedAt, ...plain } = envelope(parentId, {
      title: 't',
      cwd: '/c',
      botId: 'b',
      parentDispatchId: 'p',
      structuredResult: { any: 's' },
    });
    this.envelope = { ...(this.#plant('envelope', plain) as DispatchEnvelope), startedAt, completedAt };
    const other = event('g1', 5, 'session:status', { who: 'x' });
    this.events = [
      ...samples.map(({ id, type, timestamp, ...sample }) => ({
        ...(this.#plant(type, sample) as Pick<CapturedEvent, 'data'>),
        id,
        type,
        timestamp,
      })),
      { ...other, type: this.#plant('game:death type', 't') as CapturedEvent['type'] },
    ];
  }

  #plant(path: string, value: unknown): unknown {
    if (typeof value === 'string') {
      this.fields.push(path);
      const index = this.fields.length - 1;
      return `KEPT_1_${index}_${this.#tail}SECRET_1_${index}_`;
    }
    if (Array.isArray(value)) return value.map((item, index) => this.#plant(`${path}.${index}`, item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        this.#plant(`${path}${path.includes(' ') ? '.' : ' '}${key}`, item),
      ]),
    );
  }
}

function textLengths(name: string, attributes: Readonly<Record<string, unknown>>): number[] {
  return [name, ...Object.values(attributes).flat()].map((value) =>
    typeof value === 'string' ? value.length : 0,
  );
}
