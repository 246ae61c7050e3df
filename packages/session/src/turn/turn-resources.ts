import type { HookAsking, Toolbox } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import type { TranscriptTree } from '@hansard/prompt';
import type { Clock, LanguageModelProvider } from '@hansard/provider';
import type { ModelContext } from '../agents/agent-memory.ts';
import type { SessionRecord } from '../log/session-record.ts';
import type { ModelRetries } from '../session-options.ts';
import type { Budgets } from './budgets.ts';
import type { RunningCalls } from './running-calls.ts';
import type { SessionInputs } from './session-inputs.ts';
import type { SessionWatch, WatchedTurn } from './session-watch.ts';
import type { WaitingCalls } from './waiting-calls.ts';

/** What the turn of an agent may use: it records, and it asks the model, the hooks and the tools. */
export interface TurnResources extends SessionRecord {
  readonly model: LanguageModelProvider;
  readonly toolbox: Toolbox;
  /** How the hooks are asked. */
  readonly asking: HookAsking;
  readonly clock: Clock;
  readonly maxToolRounds: number;
  /** How many tool calls of one answer are made at the same time, from 1. */
  readonly parallelToolCalls: number;
  readonly running: RunningCalls;
  readonly waiting: WaitingCalls;
  readonly watch: SessionWatch;
  /** The turn that uses this. Null: none has begun. */
  readonly watched: WatchedTurn | null;
  /** Null: no limit. */
  readonly modelTimeoutMs: number | null;
  /** Null: no limit. */
  readonly toolTimeoutMs: number | null;
  /** Null: no limit. */
  readonly answerTimeoutMs: number | null;
  /** How often one answer to a person or a program may be rejected by hooks that want another one. */
  readonly utteranceTries: number;
  /** Whether hooks are asked about what agents say: it goes to a person or a program. */
  readonly isChecked: boolean;
  readonly inputs: SessionInputs;
  readonly budgets: Budgets;
  readonly retries: Required<ModelRetries>;
  /** Aborts when the session is closed, when a write fails, and when the owner of the session aborts its signal. */
  readonly signal: AbortSignal;
  /** The agents that are answering. Each promise settles with the answer. */
  readonly answering: Map<string, Promise<unknown>>;
  /** Resolves when the hooks have observed everything. Null: they have, or a hook waits for this turn. */
  readonly settled: () => Promise<void> | null;
  /** The transcripts through the last event that is recorded. */
  readonly branches: () => Promise<TranscriptTree<CapturedEvent>>;
  /**
   * What the model of an agent is given, with everything that was logged so far.
   * @throws CONTEXT_BUDGET_TOO_SMALL
   */
  contextOf(agentId: string): Promise<ModelContext>;
}
