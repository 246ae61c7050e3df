import type { JsonObject } from '@hansard/events';
import type { Conversation } from './conversation.ts';
import { openaiRow } from './openai-row.ts';
import { type ReasoningMode, type RowOptions, reasoningModes } from './row-options.ts';
import { sftRow } from './sft-row.ts';
import { sharegptBeginning, sharegptRow } from './sharegpt-row.ts';
import { trlChatRow, trlPromptCompletionRow } from './trl-rows.ts';

export const trainingFormatIds = ['sft', 'trl', 'trl-chat', 'openai', 'sharegpt'] as const;

export type TrainingFormatId = (typeof trainingFormatIds)[number];

/** How a format turns conversations into rows. */
export interface TrainingFormat {
  readonly id: TrainingFormatId;
  readonly file: string;
  /** One row per call, or one per run of calls that continue each other. */
  readonly rows: 'calls' | 'conversations';
  /** Whether a row may hold answers without training them. */
  readonly canMask: boolean;
  /** The possible places of thoughts. Empty if they are always part of the format (G5). */
  readonly thoughts: readonly ReasoningMode[];
  /** The longest prefix that a row can hold; null if none. Absent if a row can hold any conversation. */
  beginning?(conversation: Conversation): Conversation | null;
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
