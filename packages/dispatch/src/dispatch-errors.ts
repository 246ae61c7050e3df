import { defineErrors } from '@hansard/events';

/** The errors of running dispatches. */
export const dispatchErrors = defineErrors('dispatch', {
  DISPATCH_OPTION_INVALID: {
    when: '`startDispatch` or `runDispatch` was given an option that does not exist or that has a wrong value. Nothing was created.',
    advice: 'Correct the option that the error names.',
    details: ['option'],
  },
  DISPATCH_ENDED: {
    when: 'A message was sent to a dispatch, or a worker was started in it, and the dispatch has ended or is ending, or its agent reads no messages.',
    advice: 'Start a new dispatch.',
    details: ['dispatchId'],
  },
  DISPATCH_MESSAGE_EMPTY: {
    when: 'A communication provider, another dispatch or the program sent a message without text.',
    advice: 'Send a text with something to read in it.',
    details: ['dispatchId'],
  },
  DISPATCH_LETTER_REFUSED: {
    when: 'A letter was to be written to a dispatch that has ended or was imported, to an agent that it does not have or that has ended, without text, or with a text of more than 1,048,576 characters.',
    advice:
      'Choose a running session and one of its agents, or continue the session with `hansard chat --resume SESSION`.',
    details: ['taskDir', 'dispatchId', 'reason'],
  },
  DISPATCH_LETTER_INVALID: {
    when: 'A stored letter cannot be taken: a newer version wrote it, its content is not a letter, or the dispatch that it was written to does not exist.',
    advice:
      'Update Hansard for a letter of a newer version. Another letter stays until `deleteDispatch` deletes it, or the dispatch that it was written to.',
    details: ['taskDir', 'dispatchId', 'reason'],
  },
  DISPATCH_NOTE_INVALID: {
    when: 'A mark on a session is without its text, or too long, or its rating is not 1 to 5. Nothing was recorded.',
    advice: 'Give a note or a tag a text, and a rating a whole number from 1 to 5.',
    details: ['reason'],
  },
  DISPATCH_NOTE_NOT_FOUND: {
    when: 'A mark was to be removed that the reader has not made, or has removed before.',
    advice: 'Read the marks again. Readers remove their own marks only.',
    details: ['note', 'reader'],
  },
  DISPATCH_AGENT_NOT_FOUND: {
    when: 'A worker was to be started with an agent that `workers.agents` does not name.',
    advice:
      'Use one of the agents that the message lists; without a name, the worker has the agent of the dispatch that starts it.',
    details: ['agent', 'agents'],
  },
  DISPATCH_HOOK_TIMEOUT: {
    when: 'A hook gave no decision within `hookTimeoutMs`, or observed for longer. It is recorded as `harness:error`; the hook is skipped, or denies a question if it is `required`.',
    advice: 'Find out what the hook waits for, or raise the limit.',
    details: ['hook', 'limitMs'],
  },
  DISPATCH_HOOK_CHAIN: {
    when: 'A hook would send a message, and `maxHookChain` messages of hooks in a row already brought each other about. It is not recorded.',
    advice:
      'Let the hooks answer what people and agents do, not each other. Raise the limit if so long a chain is meant.',
    details: ['hook', 'limit'],
  },
  DISPATCH_HOOK_OVER: {
    when: 'A hook used its host after it had answered, or after its time was over. Nothing was recorded.',
    advice: 'Await everything that the hook does before it returns.',
    details: ['hook'],
  },
  DISPATCH_CALL_OVER: {
    when: 'A tool observed values, or used the agents of the session, after its call was over. Nothing was recorded.',
    advice: 'Await all that the tool does with its call before it returns.',
    details: ['toolCallId'],
  },
  DISPATCH_COST_UNKNOWN: {
    when: 'A dispatch has `limits.costUsd`, and its log does not state what the calls of a model cost: the limit does not count them. It is recorded once as `harness:error`, and nothing is stopped.',
    advice:
      'Use a model whose provider states the cost of each call, or set a limit of time: `limits.timeMs`.',
    details: [],
  },
  DISPATCH_WORKER_LIMIT: {
    when: 'As many workers run as `maxRunning` allows, or the dispatch is at the level `maxDepth`.',
    advice: 'Wait until one has ended, or raise the limit.',
    details: ['running?', 'maxRunning?', 'maxDepth?'],
  },
  DISPATCH_START_REFUSED: {
    when: 'A communication provider asked for a task, and the configuration does not allow it (`not_allowed`), as many run as it allows (`limit`), the harness is closing (`closing`), or there is no prompt (`no_prompt`).',
    advice:
      'Allow it with `incomingTasks` in `hansard.config.json`, or `incoming` of `createCommunicationHub`; with `limit`, ask again later.',
    details: ['reason'],
  },
  DISPATCH_NOT_REACHABLE: {
    when: 'A dispatch was to send a message to itself, to a parent that it does not have, or to a dispatch that it may not write to.',
    advice:
      'Write to the dispatch that started it, or to its workers. `workers.messages: "all"` lets the dispatches that run together write to each other.',
    details: ['dispatchId', 'to'],
  },
  DISPATCH_MESSAGE_LIMIT: {
    when: 'A dispatch sent as many messages to others as `workers.maxMessages` allows since it last heard a person or the outside world.',
    advice: 'Let the agents finish their work instead of talking. Raise the limit if so much talk is meant.',
    details: ['dispatchId', 'limit'],
  },
});

/** The text of a message to a dispatch. @throws DISPATCH_MESSAGE_EMPTY */
export function textOfMessage(text: unknown, dispatchId: string | null): string {
  if ((typeof text === 'string' || text instanceof String) && text.trim() !== '') return String(text);
  throw dispatchErrors.error(
    'DISPATCH_MESSAGE_EMPTY',
    `The message${dispatchId === null ? '' : ` to the dispatch ${dispatchId}`} was not delivered: it has no text.`,
    { details: { dispatchId } },
  );
}
