import type { HansardError } from '@hansard/events';
import { defineErrors } from '@hansard/provider';

/** The errors of sessions. */
export const sessionErrors = defineErrors('session', {
  SESSION_OPTION_INVALID: {
    when: '`openSession`, `createAgent` or another call of a session was given an option that does not exist, has a wrong value, such as an empty name, or excludes another one. Nothing was created or recorded.',
    advice: 'Correct the option that the error names.',
    details: ['option'],
  },
  SESSION_NOT_FULL: {
    when: '`openSession` was called for a dispatch of `narrative` fidelity that no session recorded: its log lacks the input and output of tools.',
    advice: 'Start a new session. A recorded stream without tool input and output cannot be continued.',
    details: ['taskDir', 'dispatchId'],
  },
  SESSION_LOG_INVALID: {
    when: '`openSession` was called for a dispatch whose log has events and no agent, or with such events, or with events that are not valid: they are not a session.',
    advice: 'Check the id, or how the events were read. Otherwise start a new session.',
    details: ['dispatchId'],
  },
  SESSION_NO_ROOT: {
    when: 'The root was asked for, by `session.root` or `needsRoot` of `openSession`, in a session of peers.',
    advice: 'Take the agents of a session of peers from `session.peers`.',
    details: ['dispatchId'],
  },
  SESSION_GIVEN_INVALID: {
    when: 'The transcript with which an agent should begin (`initPrompt`) cannot be given to a model: an unknown role, a message without content, a call without a result, a result without its call, or a value that a log cannot hold.',
    advice: 'Correct the message that the error names. Give an open call a result, or leave out the call.',
    details: ['index?'],
  },
  SESSION_AGENT_NOT_FOUND: {
    when: 'The session never had an agent with that id.',
    advice: 'Use one of the agents that the message lists.',
    details: ['agentId'],
  },
  SESSION_AGENT_EXISTS: {
    when: '`logAgentCreated` was called with the id of an agent that the session has or had.',
    advice: 'Take an id from `allocateAgentId`.',
    details: ['agentId'],
  },
  SESSION_AGENT_IS_ROOT: {
    when: 'The root agent was to be terminated.',
    advice: 'Complete the session to end its root.',
    details: ['agentId'],
  },
  SESSION_AGENT_ACTIVE: {
    when: '`revive` was called for an agent that has not ended, or that was revived already.',
    advice: 'Use the agent as it is: `getAgent`.',
    details: ['agentId'],
  },
  SESSION_AGENT_TERMINATED: {
    when: 'An agent that was terminated was sent a message or asked for an answer. The log names the message: `agent:undelivered`.',
    advice: 'Read its transcript, use it again with `session.revive`, or create another agent.',
    details: ['agentId'],
  },
  SESSION_AGENT_BUSY: {
    when: 'An agent was asked for an answer while it gives one: two agents wait for each other, or `response` was called twice.',
    advice: 'Wait for the answer that is under way.',
    details: ['agentId'],
  },
  SESSION_REWIND_INVALID: {
    when: '`rewind` names an event that the agent does not have.',
    advice:
      'Name an event of the agent, such as the id that `harken` gave, or null for the beginning of its transcript.',
    details: ['agentId', 'eventId'],
  },
  SESSION_EVENT_NOT_FOUND: {
    when: '`loadSession`, `forkSession` or `fork` names in `at` an event or a position that the log does not have.',
    advice: 'Name an event by its whole id or its position, as `hansard show` prints them.',
    details: ['dispatchId', 'eventId'],
  },
  SESSION_FORK_INVALID: {
    when: 'A fork has `edit`, and `at` names no message that an agent received.',
    advice: 'Name in `at` the message that should have another text, or leave `edit` out.',
    details: ['eventId'],
  },
  SESSION_BUDGET_SPENT: {
    when: 'An agent wanted to call its model, or to create an agent, and a budget of the session or of the agent is spent (`budgets`). The log records `harness:budget_reached`. Calls that were under way have ended and count.',
    advice: 'Raise the budget, and let the agent answer again: what it was asked is still open.',
    details: ['agentId', 'scope', 'what', 'limit', 'spent'],
  },
  SESSION_SCHEMA_UNMATCHED: {
    when: '`response` was given a `schema`, and none of `schemaTries` answers was JSON that fits it. The log has the answers, and the problem of each.',
    advice:
      'Read the last problem in the message. Say in the prompt what the schema wants, give the model `outputSchema`, or allow more tries.',
    details: ['agentId', 'tries'],
  },
  SESSION_UTTERANCE_DENIED: {
    when: 'A hook that decides on utterances denied an answer, or rejected the last of `utteranceTries` answers. It reached nobody; the log records it as `agent:rejected`, with the reason.',
    advice:
      'Read the reason in the log (`hansard show SESSION --json`). Give the agent a message that helps it, and call `response` again.',
    details: ['agentId', 'hook'],
  },
  SESSION_INPUT_DENIED: {
    when: 'A hook that decides on inputs denied a message. It did not reach the agent; the log has it in the decision of the hook.',
    advice: 'Say it in other words, or change the configuration of the hook that the message names.',
    details: ['agentId', 'hook'],
  },
  SESSION_ANSWER_REFUSED: {
    when: '`answer` names a call that does not wait for a person: it was answered before, a rewind took it back, nobody was asked about it, or several calls with that id wait.',
    advice: 'Take a call of `session.pending`, and name it by the event of the call.',
    details: ['callId'],
  },
  SESSION_COMPACTION_INVALID: {
    when: '`compact` was called without a text, names in `keptFrom` a message or event that the agent does not have, or leaves `keptFrom` out while the agent has a message to answer.',
    advice: 'Name in `keptFrom` the first message or event of the agent that its model still needs to see.',
    details: ['agentId', 'keptFrom?'],
  },
  SESSION_MODEL_FAILED: {
    when: 'A model threw, gave an invalid answer, or took longer than `modelTimeoutMs`. The error is the `cause`; the log records it as `harness:error`, and no incomplete message.',
    advice: 'Read the cause, then call `response` again: the question is still open.',
    details: ['agentId'],
  },
  SESSION_TURN_LIMIT: {
    when: 'An agent called tools in `maxToolRounds` rounds without saying anything. Its last calls were not made and have an error as their result.',
    advice: 'Read in the log what the agent tried to do; raise the limit if the calls were right.',
    details: ['agentId', 'limit'],
  },
  SESSION_AGENT_STOPPED: {
    when: 'The turn of an agent was stopped: by `stop`, the signal of `response` or `answerTimeoutMs` (the log records `harness:answer_stopped`), or because it repeated its tool calls or was silent for too long (`harness:loop_kill`, `harness:stall`); its last calls were not made or have an error as their result.',
    advice:
      'Read in the log what the agent tried to do, say something that helps it, and call `response` again. Raise `loopDetector` or `limits.stallMs` if the agent was right.',
    details: ['agentId', 'event'],
  },
  SESSION_STOPPED: {
    when: '`abort` was called, a person stopped the session, or it exceeded a limit of time or cost. The log records it as `harness:abort` or `harness:timeout`.',
    advice:
      'Close the session, which ends it as `aborted`. Load it to continue, with a higher limit if one stopped it.',
    details: ['dispatchId', 'event'],
  },
  SESSION_HOOK_AGENT: {
    when: 'A hook informed its own agent, or let an agent that is not its own harken, answer or speak for it.',
    advice:
      'Use `harken` and `response` for agents that the hook created with `createAgent`, and `inform` for all others.',
    details: ['hook', 'agentId'],
  },
  SESSION_DELIVERY_DENIED: {
    when: 'Another hook denied the message that a hook sent from its agent. The denial is in the log.',
    advice: 'Read the reason, and do not repeat the message unchanged.',
    details: ['hook', 'agentId'],
  },
  SESSION_CLOSED: {
    when: 'The session was closed or completed, or a write failed before: then that error is the `cause`.',
    advice: 'Load the session to continue; after a failed write, once the store works again.',
    details: ['dispatchId'],
  },
});

export function invalidOption(option: string, message: string, cause?: unknown): HansardError {
  return sessionErrors.error('SESSION_OPTION_INVALID', message, { cause, details: { option } });
}

export function noRoot(dispatchId: string): HansardError {
  return sessionErrors.error(
    'SESSION_NO_ROOT',
    `The session ${dispatchId} has no root: its agents are peers. Take them from session.peers.`,
    { details: { dispatchId } },
  );
}

/** `dispatchId`: null for events that were given to a new session. */
export function noAgents(dispatchId: string | null): HansardError {
  const what = dispatchId === null ? 'The given log' : `The dispatch ${dispatchId}`;
  return sessionErrors.error(
    'SESSION_LOG_INVALID',
    `${what} has no agent:created, so it contains no session and nothing that could be resumed.`,
    { details: { dispatchId } },
  );
}
