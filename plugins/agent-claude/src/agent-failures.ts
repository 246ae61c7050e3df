import { definedOnly, type HansardError, messageOf } from '@hansard/events';
import { claudeAgentErrors } from './claude-agent-errors.ts';
import type { EngineProcess } from './engine-process.ts';

// The narrative of a dispatch keeps the first 200 characters of an error, so what to do comes first.

export function sdkMissing(cause: unknown): HansardError {
  return claudeAgentErrors.error(
    'AGENT_SDK_MISSING',
    'A live agent needs the Claude Agent SDK: `npm install @anthropic-ai/claude-agent-sdk`. ' +
      '`hansard run STREAM.jsonl --task PROJECT/SLUG` replays a recording without it. The SDK is not installed or can not be loaded.',
    { cause },
  );
}

export function notLoggedIn(said: string): HansardError {
  return claudeAgentErrors.error(
    'AGENT_NOT_LOGGED_IN',
    'Set ANTHROPIC_API_KEY, or log in with `claude` and /login; `hansard run STREAM.jsonl --task PROJECT/SLUG` needs neither. ' +
      `Claude: ${JSON.stringify(said)}. With ANTHROPIC_BASE_URL, the key is one of that API.`,
    { details: { said } },
  );
}

export function sessionMissing(said: string, sessionId: string | undefined): HansardError {
  return claudeAgentErrors.error(
    'AGENT_SESSION_MISSING',
    `The engine can't resume the session ${sessionId}: ${JSON.stringify(said)}. It keeps sessions for some weeks, on ` +
      'the machine and in the folder where they began. Run without resuming, or give the agent the ' +
      '`sessionStore` that has the session.',
    { details: { ...definedOnly({ sessionId }), said } },
  );
}

export function cwdMissing(cwd: string): HansardError {
  return claudeAgentErrors.error(
    'AGENT_CWD_MISSING',
    `The folder ${cwd} that the agent is to work in does not exist. Create it, or name another as cwd.`,
    { details: { cwd } },
  );
}

/** Why the engine ended without a result. */
export function engineFailure(engine: EngineProcess, error: unknown, executable?: string): HansardError {
  const message = messageOf(error);
  const isMissing =
    engine.failure?.code === 'ENOENT' ||
    engine.failure?.code === 'EACCES' ||
    (executable === undefined && /^Native CLI binary .* not found/.test(message));
  if (isMissing) {
    const what =
      executable === undefined
        ? 'The engine of the Claude Agent SDK is not installed: an optional dependency of ' +
          '@anthropic-ai/claude-agent-sdk, which a checkout of Hansard leaves out. Install the SDK again without leaving ' +
          'out optional dependencies, or name a Claude Code of its version as `executable` in the configuration of ' +
          '@hansard/agent-claude.'
        : `The Claude Code executable ${executable} does not exist or can't be run. Correct \`executable\`, or leave ` +
          'it out to take the one of the SDK.';
    return claudeAgentErrors.error(
      'AGENT_ENGINE_MISSING',
      `${what} \`hansard run STREAM.jsonl --task PROJECT/SLUG\` replays a recording without it.`,
      {
        cause: engine.failure ?? error,
        ...(executable === undefined ? {} : { details: { executable } }),
      },
    );
  }
  const { errorOutput, exitCode } = engine;
  return claudeAgentErrors.error(
    'AGENT_ENGINE_FAILED',
    `The engine of the Claude Agent SDK ended without a result: ${message}${errorOutput === '' ? '' : `\n${errorOutput}`}`,
    { cause: error, details: { errorOutput, exitCode } },
  );
}
