import { setTimeout } from 'node:timers/promises';
import { findClaudeStreamStart, readClaudeStream } from '@hansard/claude';
import { formatErrors, toTimestamp } from '@hansard/events';
import type { AgentActivity, AgentProvider, AgentRunRequest } from '@hansard/provider';

export interface ReplayAgentOptions {
  /** A recorded stream: a `.jsonl` file with one message of the Agent SDK on each line. */
  readonly path: string;
  /** Milliseconds to wait before each message that is an event. Absent: none. */
  readonly delayMs?: number;
  /** Waits; rejects or resolves early when the signal is aborted. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** The time for the messages of a file that has no times, in milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * An agent that replays a recording: it reads the file line by line and maps it like messages of the SDK. Its dispatch has
 * the recorded times. It receives no messages. Damaged lines become `system:notice`; running it throws
 * FORMAT_UNREADABLE, FORMAT_EMPTY or FORMAT_NOT_JSONL.
 */
export function createReplayAgent(options: ReplayAgentOptions): AgentProvider {
  return {
    contract: 1,
    takesMessages: false,
    run: (request) => replay(options, request),
    recordedStart: (signal) => findStart(options.path, signal),
  };
}

async function findStart(path: string, signal: AbortSignal): Promise<string | null> {
  try {
    const start = await findClaudeStreamStart(path, signal);
    return start === undefined ? null : toTimestamp(start);
  } catch (error) {
    // `run` throws the same error, and records it in the log.
    if (formatErrors.is(error)) return null;
    throw error;
  }
}

async function* replay(
  { path, delayMs = 0, wait = waitFor, now = Date.now }: ReplayAgentOptions,
  { fidelity, signal }: AgentRunRequest,
): AsyncGenerator<AgentActivity> {
  for await (const activities of readClaudeStream(path, fidelity, now, signal)) {
    const isPaced = delayMs > 0 && !signal.aborted && activities.some(({ kind }) => kind === 'event');
    if (isPaced) await unlessAborted(wait(delayMs, signal), signal);
    yield* activities;
  }
}

async function unlessAborted(waiting: Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await waiting;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal });
}
