import { openDispatchStore } from '@hansard/dispatch';
import { standardPrices } from '@hansard/import';
import { createMemoryStore } from '@hansard/store-memory';
import { findProvider } from '@pydantic/genai-prices';
import { describe, expect, it } from 'vitest';
import { termsFor } from '../src/prices/standard-prices.ts';
import { importAll, LogFolder, lines } from './logs.ts';

const pricing = 'https://platform.claude.com/docs/en/about-claude/pricing';
const fastMode = 'https://platform.claude.com/docs/en/build-with-claude/fast-mode';

interface Row {
  readonly part: string;
  readonly model: string;
  readonly usage: object;
  readonly usd: number;
  readonly unpriced?: readonly string[];
  /** The day of the call. Absent: 2026-11-20. */
  readonly day?: string;
  /** Where the amount comes from. */
  readonly page: string;
}

const million = { input_tokens: 1_000_000, output_tokens: 0 };
const none = { input_tokens: 0, output_tokens: 0 };
const writes = (fiveMinutes: number, hour: number) => ({
  ...none,
  cache_creation_input_tokens: fiveMinutes + hour,
  cache_creation: { ephemeral_5m_input_tokens: fiveMinutes, ephemeral_1h_input_tokens: hour },
});

/** One call with each priced part of a usage. A price is for a million tokens unless it says otherwise. */
const rows: readonly Row[] = [
  { part: 'input: $5', model: 'claude-opus-4-8', usage: million, usd: 5, page: `${pricing}#model-pricing` },
  {
    part: 'output: $25',
    model: 'claude-opus-4-8',
    usage: { ...none, output_tokens: 1_000_000 },
    usd: 25,
    page: `${pricing}#model-pricing`,
  },
  {
    part: 'reasoning, which is output',
    model: 'claude-opus-4-8',
    usage: { ...none, output_tokens: 1_000_000, output_tokens_details: { thinking_tokens: 900_000 } },
    usd: 25,
    page: 'https://platform.claude.com/docs/en/build-with-claude/extended-thinking',
  },
  {
    part: 'cache reads: 0.1x',
    model: 'claude-opus-4-8',
    usage: { ...none, cache_read_input_tokens: 1_000_000 },
    usd: 0.5,
    page: `${pricing}#prompt-caching`,
  },
  {
    part: 'cache reads of Opus 5.5: 0.05x',
    model: 'claude-opus-5-5',
    usage: { ...none, cache_read_input_tokens: 1_000_000 },
    usd: 0.2,
    page: `${pricing}#model-pricing`,
  },
  {
    part: 'five-minute cache writes: 1.25x',
    model: 'claude-opus-4-8',
    usage: writes(1_000_000, 0),
    usd: 6.25,
    page: `${pricing}#prompt-caching`,
  },
  {
    part: 'one-hour cache writes: 2x',
    model: 'claude-opus-4-8',
    usage: writes(0, 1_000_000),
    usd: 10,
    page: `${pricing}#prompt-caching`,
  },
  {
    part: 'both cache writes',
    model: 'claude-opus-4-8',
    usage: writes(1_000_000, 1_000_000),
    usd: 16.25,
    page: `${pricing}#prompt-caching`,
  },
  {
    part: 'cache writes without a time, which are for five minutes',
    model: 'claude-opus-4-8',
    usage: { ...none, cache_creation_input_tokens: 1_000_000 },
    usd: 6.25,
    page: 'https://platform.claude.com/docs/en/build-with-claude/prompt-caching',
  },
  {
    part: 'web searches: $10 for 1,000',
    model: 'claude-opus-4-8',
    usage: { ...none, server_tool_use: { web_search_requests: 3, web_fetch_requests: 0 } },
    usd: 0.03,
    page: `${pricing}#web-search-tool`,
  },
  {
    part: 'web fetches: free',
    model: 'claude-opus-4-8',
    usage: { ...million, server_tool_use: { web_search_requests: 0, web_fetch_requests: 4 } },
    usd: 5,
    page: `${pricing}#web-fetch-tool`,
  },
  {
    part: 'fast mode of Opus 4.6: $30',
    model: 'claude-opus-4-6',
    usage: { ...million, speed: 'fast' },
    usd: 30,
    page: `${pricing}#fast-mode-pricing`,
  },
  {
    part: 'fast mode of Opus 4.7: $30',
    model: 'claude-opus-4-7',
    usage: { ...million, speed: 'fast' },
    day: '2026-05-01',
    usd: 30,
    page: 'https://openrouter.ai/anthropic/claude-opus-4.7-fast',
  },
  {
    part: 'fast mode of Opus 4.8: $10',
    model: 'claude-opus-4-8',
    usage: { ...million, speed: 'fast' },
    usd: 10,
    page: fastMode,
  },
  {
    part: 'fast mode of Opus 5: $10',
    model: 'claude-opus-5',
    usage: { ...million, speed: 'fast' },
    usd: 10,
    page: fastMode,
  },
  {
    part: 'fast mode of Opus 5.5: $8',
    model: 'claude-opus-5-5',
    usage: { ...million, speed: 'fast' },
    usd: 8,
    page: fastMode,
  },
  {
    part: 'output of Opus 4.8 in fast mode: $50',
    model: 'claude-opus-4-8',
    usage: { ...none, output_tokens: 1_000_000, speed: 'fast' },
    usd: 50,
    page: fastMode,
  },
  {
    part: 'one-hour cache writes in fast mode: 2x of the fast price',
    model: 'claude-opus-4-8',
    usage: { ...writes(0, 1_000_000), speed: 'fast' },
    usd: 20,
    page: fastMode,
  },
  {
    part: 'fast mode of a model without one: a lower bound',
    model: 'claude-sonnet-4-6',
    usage: { ...million, speed: 'fast' },
    usd: 3,
    unpriced: ['speed'],
    page: fastMode,
  },
  {
    part: 'batch: half',
    model: 'claude-opus-4-8',
    usage: { ...million, service_tier: 'batch' },
    usd: 2.5,
    page: `${pricing}#batch-processing`,
  },
  {
    part: 'a batch with a web search: the search keeps its price',
    model: 'claude-opus-4-8',
    usage: { ...million, service_tier: 'batch', server_tool_use: { web_search_requests: 100 } },
    usd: 3.5,
    page: 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool',
  },
  {
    part: 'fast mode in a batch, which is not offered',
    model: 'claude-opus-4-8',
    usage: { ...million, service_tier: 'batch', speed: 'fast' },
    usd: 2.5,
    unpriced: ['speed'],
    page: `${pricing}#fast-mode-pricing`,
  },
  {
    part: 'priority tier: bought as capacity, so no price for a call',
    model: 'claude-opus-4-8',
    usage: { ...million, service_tier: 'priority', server_tool_use: { web_search_requests: 1 } },
    usd: 0.01,
    unpriced: ['serviceTier'],
    page: 'https://platform.claude.com/docs/en/api/service-tiers',
  },
  {
    part: 'inference in the US: 1.1x',
    model: 'claude-opus-4-8',
    usage: { ...million, inference_geo: 'us' },
    usd: 5.5,
    page: `${pricing}#data-residency-pricing`,
  },
  {
    part: 'inference in the US with a web search: the search keeps its price',
    model: 'claude-opus-4-8',
    usage: { ...million, inference_geo: 'us', server_tool_use: { web_search_requests: 100 } },
    usd: 6.5,
    page: 'https://code.claude.com/docs/en/costs',
  },
  {
    part: 'inference in the US, a model before 4.6: 1x',
    model: 'claude-opus-4-5',
    usage: { ...million, inference_geo: 'us' },
    usd: 5,
    page: `${pricing}#data-residency-pricing`,
  },
  {
    part: 'inference in a place without a price: a lower bound',
    model: 'claude-opus-4-8',
    usage: { ...million, inference_geo: 'eu' },
    usd: 5,
    unpriced: ['inferenceGeo'],
    page: 'https://platform.claude.com/docs/en/manage-claude/data-residency',
  },
  {
    part: 'inference anywhere: 1x',
    model: 'claude-opus-4-8',
    usage: { ...million, inference_geo: 'global' },
    usd: 5,
    page: `${pricing}#data-residency-pricing`,
  },
  {
    part: 'inference in a place that is not recorded: 1x',
    model: 'claude-opus-4-8',
    usage: { ...million, inference_geo: 'not_available' },
    usd: 5,
    page: `${pricing}#data-residency-pricing`,
  },
  {
    part: 'a context of 200,000 tokens: the usual price',
    model: 'claude-sonnet-4-20250514',
    usage: { ...none, input_tokens: 200_000, output_tokens: 10_000 },
    day: '2025-09-01',
    usd: 0.75,
    page: `${pricing}#long-context-pricing`,
  },
  {
    part: 'a longer context of Sonnet 4: $6 and $22.50',
    model: 'claude-sonnet-4-20250514',
    usage: { ...none, input_tokens: 300_000, output_tokens: 10_000 },
    day: '2025-09-01',
    usd: 2.025,
    page: `${pricing}#long-context-pricing`,
  },
  {
    part: 'a longer context of Sonnet 4.5: $6',
    model: 'claude-sonnet-4-5-20250929',
    usage: { ...none, input_tokens: 1, cache_read_input_tokens: 300_000 },
    day: '2025-11-01',
    usd: 0.180006,
    page: `${pricing}#long-context-pricing`,
  },
  {
    part: 'a longer context of Opus 4.6 before 13 March 2026: $10',
    model: 'claude-opus-4-6',
    usage: million,
    day: '2026-03-01',
    usd: 10,
    page: `${pricing}#long-context-pricing`,
  },
  {
    part: 'a longer context of Opus 4.6 since then: $5',
    model: 'claude-opus-4-6',
    usage: million,
    day: '2026-03-20',
    usd: 5,
    page: `${pricing}#long-context-pricing`,
  },
  {
    part: 'a longer context in a batch: both',
    model: 'claude-sonnet-4-20250514',
    usage: { ...million, service_tier: 'batch' },
    day: '2025-09-01',
    usd: 3,
    page: `${pricing}#long-context-pricing`,
  },
  {
    part: 'web searches of a model without them',
    model: 'claude-3-haiku-20240307',
    usage: { ...million, server_tool_use: { web_search_requests: 5 } },
    day: '2025-01-01',
    usd: 0.25,
    unpriced: ['webSearchRequests'],
    page: `${pricing}#web-search-tool`,
  },
  {
    part: 'a regional endpoint of Bedrock: $5.50',
    model: 'us.anthropic.claude-opus-4-8-v1:0',
    usage: million,
    usd: 5.5,
    page: 'https://aws.amazon.com/bedrock/pricing/',
  },
  {
    part: 'one-hour cache writes of Bedrock: at least those of five minutes',
    model: 'global.anthropic.claude-opus-4-8-v1',
    usage: writes(0, 1_000_000),
    usd: 6.25,
    unpriced: ['cacheWrite1hTokens'],
    page: 'https://aws.amazon.com/bedrock/pricing/',
  },
  {
    part: 'fast mode of Bedrock, which is not offered',
    model: 'global.anthropic.claude-opus-4-8-v1',
    usage: { ...million, speed: 'fast' },
    usd: 5,
    unpriced: ['speed'],
    page: fastMode,
  },
];

async function imported(model: string, usage: object, day: string) {
  using folder = new LogFolder();
  const store = openDispatchStore(createMemoryStore());
  const record = {
    type: 'assistant',
    uuid: '00000000-0000-4000-8000-000000000001',
    parentUuid: null,
    isSidechain: false,
    cwd: '/house',
    sessionId: 'session-1',
    timestamp: `${day}T10:00:00.000Z`,
    message: {
      id: 'msg_1',
      role: 'assistant',
      model,
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: 'Yes.' }],
      usage,
    },
  };
  await importAll(store, [folder.put('s.jsonl', lines(record))], { task: 'lab/house' });
  const [envelope] = await store.getDispatchEnvelopes('lab/house');
  return envelope?.models?.[0];
}

describe('the price of each part of a usage, from a transcript to the envelope', () => {
  it.each(rows)('$part ($page)', async ({ model, usage, usd, unpriced, day = '2026-11-20' }) => {
    const row = await imported(model, usage, day);
    expect(row?.estimatedUsd).toBeCloseTo(usd, 9);
    expect(row?.unpriced).toEqual(unpriced);
  });

  it('has the terms of Anthropic for each of its models in the price table', () => {
    const models = findProvider({ providerId: 'anthropic' })?.models.map(({ id }) => id) ?? [];
    expect(models.length).toBeGreaterThan(20);
    expect(models.filter((model) => termsFor('anthropic', model).serviceTiers === undefined)).toEqual([]);
  });

  it('never is one of a model whose name the table only resembles', () => {
    const usage = { inputTokens: 1, outputTokens: 1, speed: 'fast' };
    const timestamp = '2026-11-20T10:00:00.000Z';
    for (const model of ['claude-opus-4-6-fast', 'eu.anthropic.claude-opus-4-80-v1:0', 'anthropic/claude-9'])
      expect(standardPrices.priceOf({ model, usage, timestamp })).toBeNull();
  });
});
