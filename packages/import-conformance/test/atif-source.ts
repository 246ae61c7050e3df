import type { JsonObject } from '@hansard/events';
import type { RandomChoices, WrittenRecord } from '../src/index.ts';

/** Where a random step stands. */
interface Run {
  readonly random: RandomChoices;
  calls: number;
  /** Whether the trajectory has embedded ones, which its results may name. */
  readonly children: readonly string[];
}

const maybe = (random: RandomChoices, share: number, fields: () => JsonObject): JsonObject =>
  random.chance(share) ? fields() : {};

const imageOf = (random: RandomChoices): JsonObject => ({
  type: 'image',
  source: {
    media_type: random.pick(['image/png', 'image/jpeg']),
    path: random.pick(['images/step_1_obs_0.png', 'https://example.org/a.png']),
  },
});

const audioOf = (random: RandomChoices): JsonObject => ({
  type: 'audio',
  source: { media_type: 'audio/wav', path: `audio/${random.text()}.wav`, duration_sec: 1.5 },
});

function messageOf(random: RandomChoices): JsonObject['message'] {
  if (random.chance(0.7)) return random.chance(0.9) ? random.text() : '';
  const parts = [{ type: 'text', text: random.text() }, imageOf(random), audioOf(random)];
  return parts.filter(() => random.chance(0.7));
}

/** The counts of a call of a model. `prompt_tokens` has all of its input. */
function metricsOf(random: RandomChoices): JsonObject {
  const [input, read, write, output] = [1, 2, 3, 4].map(() => random.below(5_000)) as [
    number,
    number,
    number,
    number,
  ];
  return {
    prompt_tokens: input + read + write,
    completion_tokens: output,
    ...maybe(random, 0.7, () => ({ cached_tokens: read })),
    ...maybe(random, 0.5, () => ({ cost_usd: random.below(1_000) / 1_000 })),
    ...maybe(random, 0.2, () => ({
      prompt_token_ids: [1, 2, 3],
      completion_token_ids: [4, 5],
      logprobs: [-0.1, -0.5],
    })),
    ...maybe(random, 0.4, () => ({
      extra: {
        cache_creation_input_tokens: write,
        cache_read_input_tokens: read,
        cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: write },
        server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 },
        service_tier: 'standard',
        inference_geo: 'global',
        iterations: [],
        speed: 'standard',
        note: random.text(),
      },
    })),
  };
}

function callOf(run: Run): JsonObject {
  const { random } = run;
  run.calls += 1;
  const [name, fields] = random.pick<readonly [string, JsonObject]>([
    ['bash_command', { keystrokes: random.text(), duration: 0.1 }],
    ['Bash', { command: random.text(), description: random.text(), timeout: 120_000 }],
    ['Read', { file_path: random.text(), offset: 0, limit: 60 }],
    [
      'Edit',
      { file_path: random.text(), old_string: random.text(), new_string: random.text(), replace_all: false },
    ],
    ['Write', { file_path: random.text(), content: random.text() }],
    [
      'str_replace_editor',
      { command: 'create', path: random.text(), file_text: random.text(), security_risk: 'LOW' },
    ],
    ['finish', { message: random.text() }],
  ]);
  return {
    tool_call_id: random.chance(0.9) ? `call_${run.calls}` : '',
    function_name: name,
    arguments: fields,
    ...maybe(random, 0.3, () => ({ extra: { raw_arguments: fields, tool_use_name: name } })),
  };
}

function resultOf({ random, children }: Run, callId: unknown): JsonObject {
  const child = random.chance(0.5) ? children[0] : undefined;
  return {
    ...(typeof callId === 'string' && random.chance(0.8) ? { source_call_id: callId } : {}),
    ...maybe(random, 0.9, () => ({
      content: random.chance(0.7)
        ? random.text()
        : [{ type: 'text', text: random.text() }, imageOf(random)].slice(random.below(2)),
    })),
    ...maybe(random, 0.3, () => ({
      subagent_trajectory_ref: [
        child === undefined
          ? {
              trajectory_path: 'trajectory.summarization-1-summary.json',
              session_id: random.text(),
              extra: { summary: random.text() },
            }
          : { trajectory_id: child },
      ],
    })),
    ...maybe(random, 0.2, () => ({
      extra: {
        tool_result_metadata: {
          is_error: random.chance(0.5),
          stdout: random.text(),
          tool_use_result: {
            type: 'create',
            filePath: random.text(),
            content: random.text(),
            structuredPatch: [],
            originalFile: null,
            userModified: false,
          },
          raw_tool_result: { tool_use_id: 'call_1', type: 'tool_result', content: random.text() },
        },
      },
    })),
  };
}

function answerOf(run: Run): JsonObject {
  const { random } = run;
  const calls = Array.from({ length: random.below(3) }, () => callOf(run));
  const results = calls.filter(() => random.chance(0.8)).map(({ tool_call_id: id }) => resultOf(run, id));
  if (random.chance(0.2)) results.push(resultOf(run, null));
  const count = random.pick([undefined, 0, 1, 2]);
  const hasMetrics = count !== 0 && random.chance(0.8);
  return {
    source: 'agent',
    message: messageOf(random) ?? '',
    ...maybe(random, 0.6, () => ({ model_name: random.pick(['gpt-4o', 'claude-opus-5']) })),
    ...maybe(random, 0.1, () => ({ reasoning_effort: random.pick<string | number>(['high', 0.5]) })),
    ...(count === 0 ? {} : maybe(random, 0.3, () => ({ reasoning_content: random.text() }))),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(results.length === 0 ? {} : { observation: { results } }),
    ...(hasMetrics ? { metrics: metricsOf(random) } : {}),
    ...(count === undefined ? {} : { llm_call_count: count }),
    ...maybe(random, 0.3, () => ({
      extra: { stop_reason: 'end_turn', cwd: random.text(), is_sidechain: false, note: random.text() },
    })),
  };
}

function systemOf(run: Run): JsonObject {
  const { random } = run;
  const boundary = random.pick(['replace', 'append', undefined]);
  return {
    source: 'system',
    message: messageOf(random) ?? '',
    ...maybe(random, 0.4, () => ({ observation: { results: [resultOf(run, null)] } })),
    ...maybe(random, 0.4, () => ({
      extra: { context_management: { type: 'compaction', ...(boundary === undefined ? {} : { boundary }) } },
    })),
  };
}

function stepOf(run: Run, stepId: number): JsonObject {
  const { random } = run;
  const step = random.pick([answerOf, answerOf, systemOf, undefined])?.(run) ?? {
    source: 'user',
    message: messageOf(random) ?? '',
    ...maybe(random, 0.3, () => ({ extra: { is_sidechain: false, note: random.text() } })),
  };
  return {
    step_id: stepId,
    ...maybe(random, 0.8, () => ({
      timestamp: `2026-03-01T09:${10 + (stepId % 50)}:00.${random.pick(['000Z', '123456+00:00'])}`,
    })),
    ...step,
    ...maybe(random, 0.15, () => ({ is_copied_context: true })),
  };
}

function agentOf(random: RandomChoices): JsonObject {
  return {
    name: random.pick(['terminus-2', 'claude-code', 'openhands']),
    version: '2.0.0',
    ...maybe(random, 0.7, () => ({ model_name: 'openai/gpt-4o' })),
    ...maybe(random, 0.3, () => ({
      tool_definitions: [
        {
          type: 'function',
          function: { name: 'finish', description: random.text(), parameters: { type: 'object' } },
        },
      ],
    })),
    ...maybe(random, 0.5, () => ({
      extra: {
        parser: 'json',
        continuation_index: 1,
        summarization_index: 1,
        agent_class: 'CodeActAgent',
        parent_session_id: random.text(),
        cwds: [random.text()],
        git_branches: ['HEAD'],
      },
    })),
  };
}

function embeddedOf(random: RandomChoices, id: string): JsonObject {
  const run = { random, calls: 100, children: [] };
  return {
    schema_version: 'ATIF-v1.7',
    trajectory_id: id,
    agent: agentOf(random),
    steps: Array.from({ length: 1 + random.below(3) }, (_, at) => stepOf(run, at + 1)),
    ...maybe(random, 0.3, () => ({ final_metrics: { total_steps: 1 }, notes: random.text() })),
    ...(id.length < 12
      ? maybe(random, 0.3, () => ({ subagent_trajectories: [embeddedOf(random, `${id}.inner`)] }))
      : {}),
  };
}

/** The totals of a document change with each step. */
function layoutOf(head: JsonObject, isFirst: boolean): (texts: readonly string[]) => string {
  return ([text = '{}', ...items]) => {
    const isEmbedded = (item: string) => item.includes('"trajectory_id"') && item.includes('"steps"');
    const steps = items.filter((item) => !isEmbedded(item));
    const children = items.filter(isEmbedded);
    const totals = {
      total_prompt_tokens: steps.length * 10,
      total_steps: steps.length,
      ...(head.totals as JsonObject),
    };
    const rest = `"final_metrics": ${JSON.stringify(totals)}`;
    const lists = [
      `"steps": [\n${steps.join(',\n  ')}\n]`,
      ...(children.length === 0 ? [] : [`"subagent_trajectories": [${children.join(',')}]`]),
    ];
    const members = isFirst ? [rest, ...lists] : [...lists, rest];
    return `${text.trimEnd().slice(0, -1)}, ${members.join(',\n')}}\n`;
  };
}

/** A random trajectory: its head, its steps and its embedded trajectories are the records of one document. */
export function atifDocument(random: RandomChoices): WrittenRecord[] {
  const children = random.chance(0.4) ? [`child-${random.below(9)}`] : [];
  const run = { random, calls: 0, children };
  const [isFirst, hasTotals] = [random.chance(0.3), random.chance(0.6)];
  const totals = hasTotals
    ? {
        total_completion_tokens: 7,
        total_cached_tokens: 3,
        total_cost_usd: 0.5,
        extra: {
          service_tiers: ['standard'],
          total_cache_creation_input_tokens: 1,
          total_cache_read_input_tokens: 2,
        },
      }
    : {};
  const head = {
    schema_version: `ATIF-v1.${random.below(9)}`,
    session_id: `run-${random.below(1_000)}`,
    ...maybe(random, 0.3, () => ({ trajectory_id: `t-${random.below(1_000)}` })),
    agent: agentOf(random),
    ...maybe(random, 0.2, () => ({ notes: random.text() })),
    ...maybe(random, 0.2, () => ({ continued_trajectory_ref: 'trajectory.cont-1.json' })),
    ...maybe(random, 0.2, () => ({ extra: { note: random.text() } })),
  };
  const records = [head, ...Array.from({ length: 6 + random.below(6) }, (_, at) => stepOf(run, at + 1))];
  for (const id of children) records.push(embeddedOf(random, id) as typeof head);
  return records.map((record, at) => ({
    file: 'trajectory.json',
    text: JSON.stringify(record),
    ...(at === 0 ? { layout: layoutOf({ totals }, isFirst) } : {}),
  }));
}
