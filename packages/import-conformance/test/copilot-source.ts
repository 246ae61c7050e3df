import type { RandomChoices, WrittenRecord } from '../src/index.ts';

type Fields = Record<string, unknown>;

const start = Date.parse('2026-03-01T09:30:00.000Z');
const uuid = (number: number) => `8204b24d-a77b-409e-a7e7-${String(number).padStart(12, '0')}`;
const figures = {
  inputTokens: 1,
  outputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** What a call of the model has beside its tokens. */
const factsOfCall = {
  ...{ model: 'shop-1', modelDisplayName: 'shop-1', cost: 0, duration: 34, timeToFirstTokenMs: 31.1 },
  ...{ outputTtftMs: 31.1, interTokenLatencyMs: 0.1, initiator: 'user', interactionType: 'conversation' },
  ...{ isByok: true, byokKind: 'local_user', modelProvider: 'other', providerType: 'openai', isAuto: false },
  ...{
    maxPromptTokens: 128_000,
    transport: 'http',
    requestBodyBytes: 9,
    requestBodyWireBytes: 9,
    rte: false,
  },
  ...{ requestBodyEncoding: 'identity', apiEndpoint: '/chat', aiCreditsStatus: 'unavailable' },
  ...{ availableToolCount: 17, toolTokenCount: 5, customToolCallCount: 0, unmatchedToolResultCount: 0 },
  ...{ orphanToolCallCount: 0, frontierSource: 'estimated', cacheBreakpoints: [], frontierTokens: 3 },
  ...{ staticTokens: 1, dynamicTokens: 1, systemTokens: 1, quotaSnapshots: {}, copilotUsage: {} },
  ...{ finishReason: 'stop', cacheDetailsReported: true, contentFilterTriggered: false, numToolCalls: 1 },
  toolCounts: {},
};

/** Writes a session as Copilot CLI does, made after recordings of 1.0. */
class Session {
  readonly records: Fields[] = [];
  readonly #random: RandomChoices;
  #calls = 0;
  #agentId: string | undefined;

  constructor(random: RandomChoices) {
    this.#random = random;
  }

  #some(fields: Fields): Fields {
    return Object.fromEntries(Object.entries(fields).filter(() => this.#random.chance(0.6)));
  }

  event(type: string, data: Fields): void {
    const number = this.records.length + 1;
    this.records.push({
      type,
      data,
      ...(this.#agentId === undefined ? {} : { agentId: this.#agentId }),
      id: uuid(number),
      timestamp: new Date(start + number * 1_000).toISOString(),
      parentId: number === 1 ? null : uuid(number - 1),
    });
  }

  start(): void {
    const context = {
      cwd: '/srv/shop',
      gitRoot: '/srv/shop',
      branch: 'main',
      headCommit: this.#random.text(),
    };
    const facts = {
      contextTier: null,
      context,
      alreadyInUse: false,
      remoteSteerable: false,
      selectedModel: 'shop-1',
    };
    this.event('session.start', {
      sessionId: uuid(900),
      version: 1,
      producer: 'copilot-agent',
      copilotVersion: '1.0.102',
      startTime: new Date(start).toISOString(),
      ...facts,
    });
    if (this.#random.chance(0.5))
      this.event('session.resume', {
        resumeTime: 'now',
        eventCount: 20,
        eventsFileSizeBytes: 9,
        ...facts,
        sessionLimits: null,
        sessionWasActive: false,
      });
  }

  prompt(): void {
    this.event('user.message', {
      content: this.#random.text(),
      transformedContent: this.#random.text(),
      ...this.#some({
        messageId: uuid(700),
        supportedNativeDocumentMimeTypes: [],
        delivery: 'idle',
        interactionId: uuid(701),
        turnId: '0',
        parentAgentTaskId: uuid(702),
        source: `agent-${uuid(900)}`,
      }),
    });
    if (this.#random.chance(0.4))
      this.event('system.message', {
        role: 'system',
        content: this.#random.text(),
        metadata: {
          variables: {
            gitCommitTrailer: { sessionId: null, clientName: 'github/cli', coauthorEnabled: true },
          },
        },
        interactionId: uuid(701),
      });
  }

  answer(): void {
    this.#calls += 1;
    const apiCallId = `chatcmpl-${this.#calls}`;
    const parent = this.#agentId === undefined ? {} : { parentToolCallId: 'call_1' };
    this.event('assistant.turn_start', { turnId: '0', interactionId: uuid(701), ...parent });
    const [
      inputTokens = 0,
      outputTokens = 0,
      cacheReadTokens = 0,
      cacheWriteTokens = 0,
      reasoningTokens = 0,
    ] = [1_000, 10, 100, 0, 1].map((most) => most + this.#random.below(9));
    const usage = {
      ...factsOfCall,
      ...{ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens, apiCallId },
      accounting: { sourceSessionId: uuid(900), sequence: 1, usageId: this.#random.text() },
      ...parent,
    };
    this.event('session.usage_record', { usage });
    const calls = Array.from({ length: this.#random.below(3) }, () => {
      this.#calls += 1;
      return {
        toolCallId: `call_${this.#calls}`,
        name: this.#random.pick(['bash', 'view']),
        arguments: { command: this.#random.text() },
        type: 'function',
        ...this.#some({ intentionSummary: this.#random.text(), toolTitle: 'Run' }),
      };
    });
    this.event('assistant.message', {
      ...{
        messageId: uuid(703),
        originatingMessageId: uuid(700),
        model: 'shop-1',
        content: this.#random.chance(0.7) ? this.#random.text() : '',
        toolRequests: calls,
        interactionId: uuid(701),
        turnId: '0',
      },
      ...this.#some({ reasoningText: this.#random.text() }),
      rte: false,
      apiCallId,
      ...parent,
    });
    for (const call of calls) this.#call(call, parent);
    this.event('assistant.turn_end', { turnId: '0', ...parent });
  }

  #call(
    { toolCallId, name, arguments: input }: { toolCallId: string; name: string; arguments: Fields },
    parent: Fields,
  ): void {
    const shellToolInfo = { possiblePaths: [this.#random.text()], hasWriteFileRedirection: false };
    this.event('tool.execution_start', {
      toolCallId,
      toolName: name,
      arguments: input,
      turnId: '0',
      model: 'shop-1',
      ...this.#some({ toolTitle: 'Run', shellToolInfo }),
      ...parent,
    });
    if (this.#random.chance(0.2)) this.#agent(toolCallId);
    const success = this.#random.chance(0.8);
    this.event('tool.execution_complete', {
      ...{ toolCallId, model: 'shop-1', interactionId: uuid(701), turnId: '0', rte: false },
      ...this.#some({ shellExecution: { exitCode: this.#random.pick([0, 3]) } }),
      success,
      ...(success
        ? {
            result: { content: this.#random.text(), ...this.#some({ detailedContent: this.#random.text() }) },
          }
        : { error: { message: this.#random.text(), code: 'denied' } }),
      toolTelemetry: {
        properties: { command: this.#random.text(), options: '{}' },
        restrictedProperties: { agent_name: this.#random.text() },
        metrics: { resultLength: 33 },
      },
      ...parent,
    });
  }

  /** A sub-agent, whose events have its id. */
  #agent(toolCallId: string): void {
    if (this.#agentId !== undefined) return;
    this.#agentId = uuid(800 + this.#calls);
    const facts = {
      toolCallId,
      agentName: 'general-purpose',
      agentDisplayName: this.#random.text(),
      model: 'shop-1',
      modelSelectionSource: 'session_inheritance',
    };
    this.event('subagent.started', {
      ...facts,
      agentDescription: this.#random.text(),
      taskModelSource: 'unset',
      resumable: false,
      agentType: 'general-purpose',
      executionMode: 'sync',
    });
    this.event('subagent.configured', { model: 'shop-1', multiTurn: true });
    this.event('session.model_change', {
      source: 'agent',
      contextTier: null,
      newModel: 'shop-1',
      reasoningEffort: null,
    });
    this.prompt();
    this.answer();
    this.event('subagent.completed', {
      ...facts,
      firstDispatchedModel: 'shop-1',
      totalToolCalls: 1,
      totalTokens: 13,
      durationMs: 133,
    });
    this.#agentId = undefined;
  }

  end(): void {
    if (this.#random.chance(0.4)) this.event('abort', { reason: 'user_abort' });
    const metrics = {
      'shop-1': {
        requests: { count: 3, cost: 0 },
        usage: figures,
        totalNanoAiu: 0,
        aiCreditsStatus: 'unavailable',
      },
    };
    const codeChanges = { linesAdded: 0, linesRemoved: 0, filesModifiedCount: 0, filesModified: [] };
    const common = { totalNanoAiu: 0, totalApiDurationMs: 59, codeChanges, modelMetrics: metrics };
    const accountingSnapshot = {
      ...{ currentModel: 'shop-1', lastCallInputTokens: 1, lastCallOutputTokens: 1 },
      ...{
        totalPremiumRequestCost: 0,
        totalUserRequests: 1,
        aiCreditsStatus: 'unavailable',
        sessionStartTime: this.#random.text(),
        ...common,
      },
      agentMetrics: { main: { totalApiDurationMs: 59, totalNanoAiu: 0, modelMetrics: metrics } },
      providerModelMetrics: [
        {
          provider: null,
          modelId: 'shop-1',
          metrics: { requests: { count: 3, cost: 0 }, usage: figures, totalNanoAiu: 0, aiCreditsStatus: 'x' },
        },
      ],
    };
    this.event('session.shutdown', {
      accountingSnapshot,
      shutdownType: 'routine',
      totalPremiumRequests: 0,
      ...common,
      sessionStartTime: 1,
      eventsFileSizeBytes: 9,
      currentModel: 'shop-1',
      currentTokens: 9,
      systemTokens: 9,
      conversationTokens: 9,
      toolDefinitionsTokens: 9,
      agentMetrics: {},
      providerModelMetrics: [],
      usageAccountingWatermarks: {},
    });
  }
}

export function copilotSession(random: RandomChoices): WrittenRecord[] {
  const session = new Session(random);
  session.start();
  session.prompt();
  session.answer();
  while (session.records.length < 7 + random.below(8))
    random.pick([() => session.prompt(), () => session.answer()])();
  session.end();
  return session.records.map((record) => ({ file: 'events.jsonl', text: JSON.stringify(record) }));
}
