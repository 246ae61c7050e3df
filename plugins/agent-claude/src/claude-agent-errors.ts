import { defineErrors } from '@hansard/events';

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
