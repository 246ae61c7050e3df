import type { JsonObject } from '@hansard/events';
import type { Conversation, RowLimits } from './conversation.ts';
import { openaiRow } from './rows/openai-row.ts';
import { type ReasoningMode, type RowOptions, reasoningModes } from './rows/row-options.ts';
import { sftRow } from './rows/sft-row.ts';
import { sharegptBeginning, sharegptRow } from './rows/sharegpt-row.ts';
import { trlChatRow, trlPromptCompletionRow } from './rows/trl-rows.ts';

export const trainingFormatIds = ['sft', 'trl', 'trl-chat', 'openai', 'sharegpt'] as const;

export type TrainingFormatId = (typeof trainingFormatIds)[number];

/** How a format turns conversations into rows. */
export interface TrainingFormat extends RowLimits {
  readonly id: TrainingFormatId;
  readonly file: string;
  /** One row per call, or one per run of calls that continue each other. */
  readonly rows: 'calls' | 'conversations';
  /** The possible places of thoughts. Empty if they are always part of the format (G5). */
  readonly thoughts: readonly ReasoningMode[];
  toRow(conversation: Conversation, options: RowOptions): JsonObject;
}

const asText = ['drop', 'think-tags'] as const;

export const trainingFormats: Readonly<Record<TrainingFormatId, TrainingFormat>> = {
  sft: {
    id: 'sft',
    file: 'sft_dataset.jsonl',
    rows: 'calls',
    canMask: true,
    thoughts: [],
    toRow: sftRow,
  },
  trl: {
    id: 'trl',
    file: 'trl.jsonl',
    rows: 'calls',
    canMask: true,
    thoughts: reasoningModes,
    toRow: trlPromptCompletionRow,
  },
  'trl-chat': {
    id: 'trl-chat',
    file: 'trl_chat.jsonl',
    rows: 'conversations',
    canMask: false,
    thoughts: reasoningModes,
    toRow: trlChatRow,
  },
  openai: {
    id: 'openai',
    file: 'openai.jsonl',
    rows: 'conversations',
    canMask: true,
    thoughts: asText,
    toRow: openaiRow,
  },
  sharegpt: {
    id: 'sharegpt',
    file: 'sharegpt.jsonl',
    rows: 'conversations',
    canMask: false,
    thoughts: asText,
    beginning: sharegptBeginning,
    toRow: sharegptRow,
  },
};
