import { defineErrors } from '@hansard/events';

/** The errors of running dispatches. */
export const dispatchErrors = defineErrors('dispatch', {
  DISPATCH_ENDED: {
    when: 'A message was sent to a dispatch, or a worker was started in it, and the dispatch has ended or is ending, or its agent reads no messages.',
    advice: 'Start a new dispatch.',
    details: ['dispatchId'],
  },
  DISPATCH_AGENT_NOT_FOUND: {
    when: 'A worker was to be started with an agent that `workers.agents` does not name.',
    advice:
      'Use one of the agents that the message lists; without a name, the worker has the agent of the dispatch that starts it.',
    details: ['agent', 'agents'],
  },
  DISPATCH_HOOK_TIMEOUT: {
    when: 'A hook gave no decision within `hookTimeoutMs`. It is recorded as `harness:error`; the hook is skipped, or denies if it is `required`.',
    advice: 'Find out what the hook waits for, or raise the limit.',
    details: ['hook', 'limitMs'],
  },
  DISPATCH_WORKER_LIMIT: {
    when: 'As many workers run as `maxRunning` allows.',
    advice: 'Wait until one has ended, or raise the limit.',
    details: ['running', 'maxRunning'],
  },
});
