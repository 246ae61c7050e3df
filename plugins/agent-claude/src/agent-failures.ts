import { definedOnly, defineErrors, type HansardError, messageOf } from '@hansard/events';
import type { EngineProcess } from './engine-process.ts';

/** Why a live agent could not run. */
export const claudeAgentErrors = defineErrors('agent-claude', {
  AGENT_SDK_MISSING: {
    when: '`@anthropic-ai/claude-agent-sdk`, or `@modelcontextprotocol/sdk` that gives it the tools of the project, cannot be loaded. The error is the `cause`.',
    advice:
      'Install it beside Hansard: `npm install @anthropic-ai/claude-agent-sdk`. Without it, `hansard run STREAM.jsonl --task PROJECT/SLUG` replays a recorded stream.',
  },
  AGENT_ENGINE_MISSING: {
    when: 'The engine of the SDK is not installed, or `executable` does not name a program that can be run.',
    advice:
      'Install the SDK with its optional dependencies. Otherwise, such as in a checkout of Hansard, set `executable` in the configuration of the plugin to a Claude Code of the same version.',
    details: ['executable?'],
  },
  AGENT_CWD_MISSING: {
    when: 'The folder in which the agent is to work does not exist.',
    advice: 'Create the folder, or name another.',
    details: ['cwd'],
  },
  AGENT_NOT_LOGGED_IN: {
    when: 'There is no key and no login, or the API refused them: three times in a row where the engine tries again. `said` has the words of the engine.',
    advice:
      'Set `ANTHROPIC_API_KEY`, or log in with `claude` and `/login`. Without a key, `hansard run STREAM.jsonl --task PROJECT/SLUG` replays a recorded stream.',
    details: ['said'],
  },
  AGENT_SESSION_MISSING: {
    when: 'The engine does not have the session to continue: the session began on another machine, in another folder, or too long ago.',
    advice: 'Run without resuming, or give the agent the `sessionStore` that has the session.',
    details: ['sessionId?', 'said'],
  },
  AGENT_ENGINE_FAILED: {
    when: 'The process of the engine ended without a result, or in the middle of the messages after one.',
    advice: 'Read its last output; the message has it.',
    details: ['errorOutput', 'exitCode'],
  },
});

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
