import type { JsonObject } from './json/json.ts';
import type { CapturedEvent } from './types/event.ts';

const unsaid = '(not shown: an answer that was checked before anybody received it)';

/** By type: the fields that are left out of a withheld event, and the texts that stand in place of required ones. */
const contents: Readonly<Record<string, { readonly out: readonly string[]; readonly instead: JsonObject }>> =
  {
    'agent:text': { out: [], instead: { text: unsaid } },
    'agent:thinking': { out: ['signature'], instead: { text: unsaid } },
    'agent:tool_call': { out: ['input', 'target'], instead: { metadata: {} } },
    'agent:tool_result': { out: ['output', 'error', 'target', 'changes'], instead: { metadata: {} } },
    'agent:rejected': { out: ['thinking'], instead: { text: unsaid, reason: unsaid } },
    'harness:answer_held': { out: ['thinking', 'call'], instead: { text: unsaid } },
    'user:message': { out: ['parts', 'wrapped'], instead: { text: unsaid } },
    'harness:error': { out: ['stack'], instead: { message: unsaid } },
    'harness:hook_decision': { out: ['reason', 'given', 'text'], instead: {} },
  };

/**
 * The event as surfaces that people watch may show it: without an answer that hooks rejected or altered before anybody received it, and without what
 * could quote that answer. The log has the whole event. An event that has nothing of it is returned as it is.
 */
export function shownEvent<T extends CapturedEvent>(event: T): T {
  const { type, data } = event;
  const isWithheld =
    data.withheld === true ||
    type === 'agent:rejected' ||
    type === 'harness:answer_held' ||
    (type === 'harness:hook_decision' && data.on === 'utterance');
  const content = isWithheld ? contents[type] : undefined;
  if (content === undefined) return event;
  const { out, instead } = content;
  const kept = Object.entries(data).filter(([field]) => !out.includes(field));
  return { ...event, data: { ...Object.fromEntries(kept), ...instead } };
}
