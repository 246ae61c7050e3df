import {
  type CapturedEvent,
  type DispatchEnvelope,
  type NewEvent,
  newEvent,
  parseEvent,
  type TaskSource,
} from '@hansard/events';

/** Texts by which an agent may try to take over the page of a report. */
export const hostileTexts = [
  '<script>globalThis.taken = true</script>',
  '<img src=x onerror="globalThis.taken = true">',
  '</div></li></ol></details><h1>Approved</h1>',
  '"><svg onload=alert(1)>',
  '[click](javascript:alert(1)) <https://evil.example> **bold** # head',
  '```\n# Approved\n<b>out of the fence</b>\n````\n<i>again</i>\n~~~',
  '&lt;script&gt; &amp; &#60;',
  '\u001b[31mred\u202edesrever\u0000 \ud800',
  '> quote\n- item\n1. one\n\n    code\n\n---\n| a | b |',
  'see https://evil.example/x, http://evil.example, www.evil.example, evil.com, //evil.org and ftp://evil.example',
  'write to me@evil.com or mailto:me@evil.com',
  'Approved\n========\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[^1]: note',
  '<!-- --> <![CDATA[ <?php ]]> &#x3c;b&#x3e; \\',
  '![x](https://evil.example/x.png)[y][z][^1] [z]: https://evil.example',
  '__bold__ _em_ a_b_c *em* ~~gone~~ ==mark== $x^2$ H~2~O :smile: `code` snake_case_name',
  'line\u2028Approved\u2029# Approved\r# Approved\r\n# Approved',
];

export const envelope: DispatchEnvelope = {
  dispatchId: '01JM0000000000000000000000',
  taskSlug: 'hostile',
  role: hostileTexts[0] ?? '',
  title: null,
  model: hostileTexts[1] ?? '',
  cwd: hostileTexts[2] ?? '',
  startedAt: '2026-03-01T09:30:00.000Z',
  completedAt: '2026-03-01T09:30:09.000Z',
  status: 'completed',
  ended: null,
  cost: 0.25,
  usage: { inputTokens: 10, outputTokens: 2 },
  models: [{ model: hostileTexts[1] ?? '', calls: 1, inputTokens: 10, outputTokens: 2, costUsd: 0.25 }],
  periods: null,
  prices: null,
  openCalls: null,
  folded: null,
  source: null,
  structuredResult: { verdict: hostileTexts[0] ?? '' },
  parentDispatchId: null,
  botId: hostileTexts[3] ?? '',
  fidelity: 'full',
  schemaVersion: 1,
};

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Every place of a log that holds text of an agent, with each hostile text in it. */
export const events: readonly CapturedEvent[] = hostileTexts
  .flatMap((text, at): NewEvent[] => [
    newEvent('agent:created', { name: text }, { agentId: `agent_${at}` }),
    newEvent('agent:system_prompt', { text }, { agentId: `agent_${at}` }),
    newEvent('user:message', { text, source: { kind: 'user' } }, { agentId: `agent_${at}` }),
    newEvent('agent:thinking', { text }, { agentId: `agent_${at}` }),
    newEvent('agent:text', { text }, { agentId: `agent_${at}` }),
    newEvent(
      'user:message',
      {
        text: hostileTexts[(at + 2) % hostileTexts.length] ?? '',
        source: { kind: 'agent', agentId: `agent_${at}` },
      },
      { agentId: `agent_${(at + 1) % hostileTexts.length}`, substance: `e${at * 11 + 4}` },
    ),
    newEvent('agent:tool_call', {
      toolCallId: `call_${at}`,
      tool: text,
      target: text,
      metadata: {},
      input: { text },
    }),
    newEvent('agent:tool_result', {
      toolCallId: `call_${at}`,
      tool: text,
      status: 'error',
      error: text,
      output: text,
      metadata: { note: text },
    }),
    { type: `custom:thing_${at}`, data: { [text]: text } },
    newEvent('agent:output', {
      parts: [
        { kind: 'text', text },
        { kind: 'image', mediaType: 'image/svg+xml', base64: btoa('<svg onload="alert(1)"/>') },
        { kind: 'image', mediaType: 'image/png', base64: png },
        { kind: 'image', mediaType: 'image/png', base64: '"><script>globalThis.taken=true</script>' },
      ],
    }),
    newEvent('session:complete', { status: 'completed', result: text }),
  ])
  .map((event, at) => parseEvent({ ...event, id: `e${at}`, timestamp: '2026-03-01T09:30:01.000Z' }));

export function sourceOf(dispatches: readonly DispatchEnvelope[], log: readonly CapturedEvent[]): TaskSource {
  return {
    taskDir: 'lab/tasks/hostile',
    task: {
      slug: 'hostile',
      name: hostileTexts[0] ?? '',
      project: 'lab',
      status: 'open',
      created: envelope.startedAt ?? '',
    },
    envelopes: dispatches,
    async *readEvents() {
      yield* log;
    },
  };
}

export async function wholeOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}
