import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  defaultMaxBytes,
  type ReasoningMode,
  type TrainingEstimate,
  type TrainingFormatId,
  type TrainingManifest,
  trainingFormatIds,
  trainingFormats,
  writeTrainingData,
} from '@hansard/datasets';
import { type JsonValue, messageOf } from '@hansard/events';
import { createTokenCounter, tokenEncodings } from '@hansard/prompt/tokens';
import { InvalidArgumentError, Option } from 'commander';
import { agentOption } from '../tasks/filter-options.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type CliContext, note } from '../terminal/context.ts';
import { gameMappingOption, readGameMapping } from './read-game-mapping.ts';
import type { TaskExport } from './task-export.ts';

const unitBytes = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 } as const;

const descriptions: Readonly<Record<TrainingFormatId, string>> = {
  sft: 'training data, prompt and completion as text (sft_dataset.jsonl)',
  trl: 'training data for TRL, prompt and completion of each call',
  'trl-chat': 'training data for TRL, whole conversations',
  openai: "training data in OpenAI's chat format",
  sharegpt: 'training data for LLaMA-Factory (ShareGPT)',
};

const options = [
  agentOption('train only these agents (training data)'),
  new Option(
    '--thoughts <how>',
    'write thoughts as think-tags, or for TRL as reasoning_content or thinking (training data; default: drop)',
  ),
  new Option('--tools <file>', 'add these tool definitions (a JSON array) to each row (training data)'),
  new Option(
    '--max-bytes <size>',
    'write nothing if the estimated size is above this, such as 500MB or 10GB (training data)',
  )
    .argParser(parseBytes)
    .default(defaultMaxBytes, byteCount(defaultMaxBytes)),
  gameMappingOption,
];

function trainingExport(id: TrainingFormatId): TaskExport {
  const { file } = trainingFormats[id];
  return {
    id,
    description: descriptions[id],
    scope: 'task',
    target: 'folder',
    options,
    async write(source, target, chosen) {
      const { context } = source;
      const { agent: agents, thoughts, tools, mapping, maxBytes } = chosen;
      let estimate: TrainingEstimate | undefined;
      const rows = writeTrainingData(source, {
        format: id,
        tokens: counterOf,
        counter: await createTokenCounter(),
        onEstimate(estimated) {
          estimate = estimated;
          note(context, estimateNote(estimated));
        },
        ...(typeof maxBytes === 'number' ? { maxBytes } : {}),
        ...(isListOfNames(agents) ? { agents } : {}),
        ...(thoughts === undefined ? {} : { reasoning: reasoningMode(id, thoughts) }),
        ...(typeof tools === 'string' ? { tools: readTools(context, tools) } : {}),
        ...(typeof mapping === 'string' ? { mapping: readGameMapping(context, mapping) } : {}),
      });
      // The first row comes after the estimate, so that data above the limit leaves no folder.
      let next = await rows.next();
      const sink = target.file(file);
      for (; next.done !== true; next = await rows.next()) await sink.write(next.value);
      const manifest = next.value;
      await target.file('manifest.json').write(`${JSON.stringify(manifest, null, 2)}\n`);
      assertSomebody(manifest);
      const { rows: written, bytes, sha256, calls } = manifest;
      return {
        summary: {
          file,
          rows: written,
          bytes,
          sha256,
          calls: { ...calls },
          ...(estimate === undefined ? {} : { estimate: { ...estimate, calls: { ...estimate.calls } } }),
        },
        notes: notesOf(manifest),
      };
    },
  };
}

export const trainingExports: readonly TaskExport[] = trainingFormatIds.map(trainingExport);

function isListOfNames(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

/** Fails if none of the requested agents exists. */
function assertSomebody({ rows, missingAgents }: TrainingManifest): void {
  if (rows > 0 || missingAgents.length === 0) return;
  throw new CliError(
    exitCode.failed,
    `Unknown agents: ${missingAgents.map((agent) => JSON.stringify(agent)).join(', ')}.`,
    '`hansard tree SESSION` lists the agents of a session. Nothing was written.',
  );
}

function estimateNote({ rows, bytes, tokens, calls: { inRows, of } }: TrainingEstimate): string {
  const share = of === 0 ? '' : ` (${((100 * inRows) / of).toFixed(1)} %)`;
  return `hansard: about ${byteCount(bytes)} and ${tokens ?? 'unknown'} tokens in ${rows} rows, from ${inRows} of ${of} model calls${share}.`;
}

async function counterOf(counterId: string) {
  const encoding = tokenEncodings.find((name) => counterId === `gpt-tokenizer/${name}`);
  return encoding === undefined ? undefined : createTokenCounter({ encoding });
}

function notesOf({ rows, calls, dropped, refused, missingAgents, format }: TrainingManifest): string[] {
  return [
    `${rows} rows of ${calls.inRows} model calls; ${calls.recorded} of these calls have a recorded prompt.`,
    ...missingAgents.map((agent) => `Unknown agent: ${JSON.stringify(agent)}.`),
    ...(refused.length === 0
      ? []
      : [
          `${refused.length} dispatches refused: they were recorded without tool input and output (narrative).`,
        ]),
    ...Object.entries(dropped).map(
      ([reason, { count, first }]) =>
        `${count} calls omitted from ${format}: ${reason} (first: ${first[0]}).`,
    ),
  ];
}

function reasoningMode(id: TrainingFormatId, value: unknown): ReasoningMode {
  const { thoughts } = trainingFormats[id];
  const mode = thoughts.find((known) => known === value);
  if (mode !== undefined) return mode;
  throw new CliError(
    exitCode.usage,
    `${id} can't write thoughts as ${JSON.stringify(value)}.`,
    thoughts.length === 0
      ? 'It always includes them: remove --thoughts.'
      : `Use --thoughts with one of: ${thoughts.join(', ')}.`,
  );
}

function readTools({ cwd }: CliContext, name: string): JsonValue[] {
  const file = resolve(cwd, name);
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (Array.isArray(value)) return value as JsonValue[];
    throw new TypeError('it is not a JSON array');
  } catch (cause) {
    throw new CliError(
      exitCode.failed,
      `The tools in ${file} can't be used: ${messageOf(cause)}`,
      'Name a file with a JSON array of tool definitions, in the form that the export format needs.',
      { cause },
    );
  }
}

/** A size such as `500MB` or `1.5GB`, as an option's value; in bytes. */
function parseBytes(text: string): number {
  const [, amount, unit] = /^(\d{1,9}(?:\.\d{1,9})?)(B|KB|MB|GB|TB)$/.exec(text) ?? [];
  if (amount === undefined)
    throw new InvalidArgumentError('Give a size with its unit, such as 500MB, 1.5GB or 2TB.');
  return Number(amount) * unitBytes[unit as keyof typeof unitBytes];
}

/** A number of bytes in the largest unit in which it is at least 1, such as `5.2GB`. */
function byteCount(bytes: number): string {
  const [unit, size] = Object.entries(unitBytes).findLast(([, least]) => bytes >= least) ?? ['B', 1];
  return `${Number((bytes / size).toFixed(1))}${unit}`;
}
