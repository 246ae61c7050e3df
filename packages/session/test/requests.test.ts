import { isDeepStrictEqual } from 'node:util';
import { openDispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, type JsonObject, storedRequest } from '@hansard/events';
import { LoggedRequests } from '@hansard/prompt';
import type { DispatchStoreProvider, ModelRequest, ModelResponse, ToolDefinition } from '@hansard/provider';
import * as sessions from '@hansard/session';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { renderContextText, requestLines } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { find, prepare } from './prepare.ts';
import { model, says, tools } from './scripted.ts';

type Under = Pick<typeof sessions, 'openSession'> & { readonly LoggedRequests: typeof LoggedRequests };
const whole: Under = { openSession: sessions.openSession, LoggedRequests };

const taskDir = 'cafe/tasks/requests';

/** What the scripted model received in a call, which it marks with the number of its input tokens. */
interface Received {
  readonly tools: readonly ToolDefinition[];
  /** Undefined: it does not report them. */
  readonly parameters: JsonObject | undefined;
}

const definitions: readonly ToolDefinition[] = ['look', 'take', 'give', 'go'].flatMap((name) =>
  [1, 2].map((version) => ({
    name,
    description: `${name}s, in the version ${version}.`,
    inputSchema: { type: 'object', properties: { what: { type: 'string', maxLength: version } } },
  })),
);
const parameterSets: readonly (JsonObject | undefined)[] = [
  undefined,
  {},
  { temperature: 0.2 },
  { temperature: 0.7, topP: 1 },
  { topP: 1, temperature: 0.7 },
  { temperature: 0.2, stopSequences: ['END'], providerOptions: { vendor: { effort: 'high' } } },
];

/** A session that is closed or killed several times, and continued with other tools. */
class RandomLives {
  readonly wrong: string[] = [];
  compared = 0;
  readonly #random: () => number;
  readonly #under: Under;
  readonly #received: Received[] = [];
  /** The ids of the `request:stored` events that a life appended. */
  readonly #appended: string[] = [];
  readonly #store;

  constructor(seed: number, under: Under) {
    this.#random = randomFrom(seed);
    this.#under = under;
    this.#store = openDispatchStore(this.#watched(createMemoryStore()));
  }

  async live(lives: number): Promise<void> {
    let events: readonly CapturedEvent[] = [];
    for (let life = 0; life < lives; life += 1) {
      const before = events.filter(({ type }) => type === 'request:stored').map(({ id }) => id);
      this.#appended.length = 0;
      events = await this.#live(`D${life}`, events);
      // The first events of a life are those that it continues with.
      const own = this.#appended.slice(before.length);
      if (new Set([...before, ...own]).size !== before.length + own.length)
        this.wrong.push(`life ${life} recorded a part again`);
      this.#compare(events);
      // A kill leaves any beginning of the log that has the agents.
      if (this.#random() < 0.6) events = events.slice(0, 3 + Math.floor(this.#random() * events.length));
    }
  }

  async #live(dispatchId: string, events: readonly CapturedEvent[]): Promise<readonly CapturedEvent[]> {
    const listed = this.#some(definitions.filter((_, at) => at % 2 === Number(this.#random() < 0.5)));
    const session = await this.#under.openSession({
      store: this.#store,
      taskDir,
      dispatchId,
      ...(events.length > 0 && { events }),
      tools: [{ contract: 1, listTools: () => listed, callTool: () => ({ status: 'completed', text: '' }) }],
      model: { contract: 1, generate: (request) => this.#answer(request, session) },
    });
    const { root } = session;
    const has = (type: string) =>
      events.some((event) => event.type === type && event.agentId === 'agent_002');
    const second = has('agent:created') ? await session.getAgent('agent_002') : await session.createAgent();
    for (let step = 0; step < 4; step += 1) {
      const both = [root, second].filter(({ info }) => info.state === 'active');
      for (const agent of both) await agent.harken('Go on.');
      const asked = this.#random() < 0.5 ? both : both.slice(0, 1);
      await Promise.all(asked.map((agent) => agent.response().catch(() => {})));
    }
    await session.close();
    return this.#store.getDispatchEvents(taskDir, dispatchId);
  }

  async #answer({ agentId, tools: given }: ModelRequest, session: sessions.Session): Promise<ModelResponse> {
    const random = this.#random();
    const parameters = parameterSets[Math.floor(this.#random() * parameterSets.length)];
    const sent = random < 0.3 ? given.slice(1) : given;
    const inputTokens = this.#received.push({ tools: sent, parameters }) - 1;
    await Promise.resolve();
    if (agentId !== session.root.agentId && this.#random() < 0.05) await session.terminateAgent(agentId);
    return {
      ...{ text: 'Yes.', toolCalls: [], model: 'scripted', usage: { inputTokens, outputTokens: 1 } },
      sent: { ...(sent !== given && { tools: sent }), ...(parameters !== undefined && { parameters }) },
    };
  }

  #compare(events: readonly CapturedEvent[]): void {
    const requests = new this.#under.LoggedRequests();
    const parts: JsonObject[] = [];
    for (const event of events) {
      requests.observe(event);
      if (event.type === 'request:stored') {
        if (parts.some((part) => isDeepStrictEqual(part, event.data)))
          this.wrong.push(`${event.id} is there twice`);
        parts.push(event.data);
      }
      if (event.type !== 'agent:inference') continue;
      const number = (event.data.usage as { inputTokens: number }).inputTokens;
      const { tools: given, parameters } = this.#received[number] as Received;
      const found = requests.of(event);
      this.compared += 1;
      const said = [found.tools.basis, found.tools.value, found.parameters.basis, found.parameters.value];
      const basis = (size: number) => (size === 0 ? 'none' : 'recorded');
      const keys = Object.keys(parameters ?? {}).length;
      const right = [
        basis(given.length),
        given,
        parameters === undefined ? 'absent' : basis(keys),
        parameters ?? null,
      ];
      if (!isDeepStrictEqual(said, right)) this.wrong.push(`call ${number}: ${JSON.stringify(said)}`);
      const names =
        given.length === 0 ? 'none' : `${given.length}: ${given.map(({ name }) => name).join(', ')}`;
      if (requestLines(found)[0]?.startsWith(`tools    ${names}`) !== true)
        this.wrong.push(`call ${number} in words`);
    }
  }

  #some<T>(list: readonly T[]): readonly T[] {
    return list.filter(() => this.#random() < 0.5);
  }

  #watched(provider: DispatchStoreProvider): DispatchStoreProvider {
    const note = (events: readonly CapturedEvent[]) => {
      for (const { type, id } of events) if (type === 'request:stored') this.#appended.push(id);
    };
    return new Proxy(provider, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => {
          if (key === 'appendEvent' || key === 'appendEvents') note([given[2]].flat() as CapturedEvent[]);
          return value.apply(target, given);
        };
      },
    });
  }
}

async function wrongIn(seeds: number, under: Under): Promise<{ wrong: string[]; compared: number }> {
  const wrong: string[] = [];
  let compared = 0;
  for (let seed = 1; seed <= seeds; seed += 1) {
    const lives = new RandomLives(seed, under);
    await lives.live(4);
    wrong.push(...lives.wrong.map((what) => `seed ${seed}: ${what}`));
    compared += lives.compared;
  }
  return { wrong, compared };
}

it('what the log says of the requests of 60 random sessions is what their models received (seeds 1 to 60)', async () => {
  const { wrong, compared } = await wrongIn(60, whole);
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(compared).toBeGreaterThan(1_500);
});

const home = (name: string) => new URL(`../../${name}`, import.meta.url).pathname;
type Mutant = readonly [fault: string, file: string, piece: string, instead: string];
const known = 'filter(({ id }) => !registry.hasRequest(id))';

/** Each fault, with the file and what is replaced in it. */
const ofSession: readonly Mutant[] = [
  ['each call records its request again', 'turn/ask-model.ts', known, 'filter(() => true)'],
  ['no request is recorded', 'turn/ask-model.ts', known, 'filter(() => false)'],
  ['tools that the provider left out count', 'turn/ask-model.ts', 'sent?.tools === undefined', 'true'],
  [
    'parameters are not recorded',
    'turn/ask-model.ts',
    'if (sent?.parameters === undefined &&',
    'if (true || ',
  ],
  [
    'no parameters are not recorded',
    'turn/ask-model.ts',
    'parameters: stored?.id ?? null',
    "parameters: stored?.id ?? 'none'",
  ],
  [
    'a request stands after its call',
    'turn/ask-model.ts',
    '[...stored, ...answer]',
    '[...answer, ...stored]',
  ],
  [
    'descriptions are lost',
    'turn/ask-model.ts',
    '=> ({ name, description, inputSchema })',
    '=> ({ name, inputSchema })',
  ],
  [
    'schemas are lost',
    'turn/ask-model.ts',
    '=> ({ name, description, inputSchema })',
    '=> ({ name, description })',
  ],
  ['tools hide parameters', 'turn/ask-model.ts', '[...withTools.events, stored]', '[...withTools.events]'],
  [
    'the answer of an agent that was terminated has no request',
    'turn/ask-model.ts',
    " || type === 'request:stored'",
    '',
  ],
  [
    'a loaded session does not know its requests',
    'agents/agent-registry.ts',
    "if (type === 'request:stored') this",
    'if (position > 9) this',
  ],
];
const ofPrompt: readonly Mutant[] = [
  [
    'only the first part counts',
    'context/logged-requests.ts',
    'this.#stored.set(',
    'if (this.#stored.size < 1) this.#stored.set(',
  ],
  [
    'none is taken for not recorded',
    'context/logged-requests.ts',
    'if (id === null)',
    'if (id === undefined)',
  ],
  [
    'a part that is not named is none',
    'context/logged-requests.ts',
    'request.parameters === undefined',
    'false',
  ],
  [
    'parameters are those of the tools',
    'context/logged-requests.ts',
    'this.#part(request.parameters,',
    'this.#part(request.tools ?? null,',
  ],
];

const ofEngine: readonly Mutant[] = [
  [
    'the last request counts',
    'context/logged-requests.ts',
    'this.#requests.get(requestId)',
    '[...this.#requests.values()].at(-1)',
  ],
  [
    'the first shape counts',
    'context/logged-requests.ts',
    'this.#shapes.get(shapeHash)',
    '[...this.#shapes.values()][0]',
  ],
  ['the system prompt of a shape is lost', 'context/logged-requests.ts', '{ ...params, system }', 'params'],
  [
    'schemas of an engine are lost',
    'context/logged-requests.ts',
    'inputSchema === undefined ? {} : { inputSchema }',
    '{}',
  ],
];

describe('a mutant in which', () => {
  it.each(ofEngine)('%s is caught', async (...[, file, piece, instead]) => {
    const { LoggedRequests: Requests } = (await importMutated(
      home('prompt'),
      [file, piece, instead],
      file,
    )) as Under;
    expect(wrongOfEngine(Requests)).not.toEqual([]);
  });

  const session = (piece: Mutant) =>
    importMutated(home('session'), [piece[1], piece[2], piece[3]], 'index.ts');
  const prompt = (piece: Mutant) =>
    importMutated(home('prompt'), [piece[1], piece[2], piece[3]], 'context/logged-requests.ts');

  it.each(ofSession)('%s is caught', async (...mutant) => {
    const under = { ...whole, ...((await session(mutant)) as object) };
    expect((await wrongIn(12, under).catch(({ message }) => ({ wrong: [message] }))).wrong).not.toEqual([]);
  });

  it.each(ofPrompt)('%s is caught', async (...mutant) => {
    const under = { ...whole, ...((await prompt(mutant)) as object) };
    expect((await wrongIn(12, under)).wrong).not.toEqual([]);
  });

  it.each<[string, string, string]>([
    ['nothing is mutated', 'one < other', 'one < other'],
    ['the order of keys decides the id', 'one < other ? -1 : 1', '0'],
  ])('%s: ids of parts', async (fault, piece, instead) => {
    const made = await importMutated(
      home('events'),
      ['content/separate-content.ts', piece, instead],
      'content/separate-content.ts',
    );
    const { storedRequest: stored } = made as { storedRequest: typeof storedRequest };
    const ids = [
      { topP: 1, temperature: 0 },
      { temperature: 0, topP: 1 },
      { temperature: 0, topP: 2 },
    ].map((parameters) => stored({ parameters })?.id);
    expect(ids[0] === ids[1]).toBe(fault === 'nothing is mutated');
    expect(ids[0]).not.toBe(ids[2]);
  });
});

describe('the request of a call', () => {
  it('is in the log before its first call, without a time and an agent, and in no transcript', async () => {
    const { create, events } = prepare();
    const { root, session } = await create({
      tools: [tools({ look: () => ({ status: 'completed', text: 'a cup' }) })],
      model: model(() => says('Yes.', { sent: { parameters: { temperature: 0.2 } } })),
    });
    for (let turn = 0; turn < 3; turn += 1) {
      await root.harken('Go on.');
      await root.response();
    }
    const log = await events();
    const stored = log.filter(({ type }) => type === 'request:stored');
    expect(stored.map(({ data, timestamp, agentId }) => ({ data, timestamp, agentId }))).toEqual([
      {
        data: { tools: [{ name: 'look', description: 'look', inputSchema: { type: 'object' } }] },
        ...{ timestamp: null, agentId: undefined },
      },
      { data: { parameters: { temperature: 0.2 } }, timestamp: null, agentId: undefined },
    ]);
    expect(log.indexOf(stored[1] as CapturedEvent)).toBeLessThan(
      log.findIndex(({ type }) => type === 'agent:text'),
    );
    const [toolsId, parameters] = stored.map(({ id }) => id);
    const inferences = log.filter(({ type }) => type === 'agent:inference');
    expect(inferences.map(({ data }) => data.request)).toEqual(Array(3).fill({ tools: toolsId, parameters }));
    expect((await root.transcript()).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    await session.close();
  });

  it('has no event without tools and parameters, and says so', async () => {
    const { create, events } = prepare();
    const { root } = await create({ model: model(() => says('Yes.', { sent: { parameters: {} } })) });
    await root.harken('Go on.');
    await root.response();
    expect(find(await events(), 'agent:inference').data.request).toEqual({ tools: null, parameters: null });
  });

  it('is worded: what is recorded, what the engine only named, and what is not on record', () => {
    const requests = new LoggedRequests();
    const inference = (agentId: string | undefined, request: JsonObject | undefined): CapturedEvent => ({
      ...{ id: 'i', type: 'agent:inference', timestamp: null, ...(agentId !== undefined && { agentId }) },
      data: {
        model: 'm',
        usage: { inputTokens: 1, outputTokens: 1 },
        ...(request !== undefined && { request }),
      },
    });
    const init = { model: 'm', sessionId: 's', tools: ['Bash', 'Read'] };
    expect(requestLines(requests.of(inference(undefined, undefined)))).toEqual([
      'tools    not on record',
      'params   not on record',
    ]);
    requests.observe({ id: 'n', type: 'session:init', timestamp: null, data: init });
    expect(requestLines(requests.of(inference(undefined, undefined)))).toEqual([
      'tools    2: Bash, Read, as the engine named them at its start; their definitions are not on record',
      'params   not on record',
    ]);
    expect(requestLines(requests.of(inference('agent_of_a_tool', undefined)))[0]).toBe(
      'tools    not on record',
    );
    expect(requestLines(requests.of(inference(undefined, { tools: null, parameters: 'sha256:1' })))).toEqual([
      'tools    none',
      'params   not in the log, which names them as sha256:1',
    ]);
    const request = storedRequest({ tools: definitions.slice(0, 1) });
    requests.observe(request as CapturedEvent);
    const whole = requests.of(inference(undefined, { tools: request?.id ?? '' }));
    const manifest = {
      policy: { name: 'full' },
      messages: 0,
      tokens: null,
      parts: [],
      omitted: {},
      prefix: { messages: 0, share: 0 },
      hash: 'h',
    };
    expect(renderContextText({ messages: [], manifest: manifest as never, request: whole })).toContain(
      '── tool look\nlooks, in the version 1.\ninput {"type":"object","properties":{"what":{"type":"string","maxLength":1}}}',
    );
  });

  it('has the effort that Codex states for a turn, for the calls of its own agent', () => {
    const requests = new LoggedRequests();
    const usage = { inputTokens: 1, outputTokens: 1 };
    const call = { id: 'i', type: 'agent:inference', timestamp: null, data: { model: 'm', usage } } as const;
    const paramsOf = (inference: CapturedEvent) => requestLines(requests.of(inference))[1];
    for (const effort of ['low', 'xhigh']) {
      const data = { effort, summary: 'auto', model: 'm', cwd: '/work' };
      requests.observe({ id: effort, type: 'system:turn_context', timestamp: null, data });
      expect(paramsOf(call)).toBe(
        `params   {"effort":"${effort}","summary":"auto"}, as the engine stated them for the turn; others are not on record`,
      );
    }
    expect(paramsOf({ ...call, agentId: 'agent_of_a_tool' })).toBe('params   not on record');
  });

  it('is that of Claude Code, where it writes its requests beside the transcript', () => {
    expect(wrongOfEngine(LoggedRequests)).toEqual([]);
  });
});

/** What differs from the requests that these records state: two calls with one shape, a call with another, and one without a request. */
function wrongOfEngine(Requests: typeof LoggedRequests): string[] {
  const requests = new Requests();
  const record = (type: CapturedEvent['type'], data: JsonObject, messageId?: string): CapturedEvent => {
    const event = { id: `${type} ${JSON.stringify(data)}`, type, timestamp: null, data };
    return messageId === undefined ? event : { ...event, messageId };
  };
  const shapeOf = (...names: string[]) => ({
    system: [{ type: 'text', text: `You have ${names.length}.` }],
    tools: names.map((name) => ({
      name,
      description: name,
      input_schema: { type: 'object' },
      defer_loading: true,
    })),
  });
  const shapes: Record<string, ReturnType<typeof shapeOf>> = {
    h1: shapeOf('Bash'),
    h2: shapeOf('Bash', 'Read'),
  };
  const calls = [
    ['r1', 'h1'],
    ['r2', 'h1'],
    ['r3', 'h2'],
    [null, 'h1'],
  ] as const;
  return calls.flatMap(([id, shapeHash], number) => {
    const [shape, messageId] = [shapes[shapeHash], `m${number}`];
    if (number === 0 || number === 2)
      requests.observe(record('system:api_request_shape', { shapeHash, shape: shape as JsonObject }));
    const params = { max_tokens: number };
    if (id !== null) requests.observe(record('system:api_request', { id, params, shapeHash }));
    requests.observe(
      record('agent:text', { text: 'a', details: id === null ? {} : { requestRef: id } }, messageId),
    );
    const usage = { inputTokens: 1, outputTokens: 1 };
    const said = requests.of(record('agent:inference', { model: 'm', usage }, messageId));
    const tools = shape?.tools.map(({ name, description, input_schema: inputSchema, ...details }) => ({
      ...{ name, description, inputSchema, details },
    }));
    const right =
      id === null
        ? ['absent', null, 'absent', null]
        : ['recorded', tools, 'recorded', { ...params, system: shape?.system }];
    const found = [said.tools.basis, said.tools.value, said.parameters.basis, said.parameters.value];
    return isDeepStrictEqual(found, right) ? [] : [`call ${number}: ${JSON.stringify(found)}`];
  });
}
