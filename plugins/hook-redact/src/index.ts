import { createContext, Script } from 'node:vm';
import {
  definePlugin,
  type HookDecision,
  type HookProvider,
  type HookQuestion,
  pluginErrors,
} from '@hansard/provider';

const place = createContext({ work: null as (() => unknown) | null });

const call = new Script('work()');

/** The time limit of all patterns for one text. */
const limitMs = 1_000;

export default definePlugin({
  id: 'hook-redact',
  provides: 'HookProvider',
  create: createRedactHook,
});

interface RedactPattern {
  readonly pattern: string;
  readonly flags?: string;
  readonly replacement?: string;
}

interface Redaction {
  readonly expression: RegExp;
  readonly replacement: string;
}

/**
 * Alters deliveries, results of tools, and on request answers and inputs in which a pattern occurs. It does not decide on tool calls.
 * A text for which the patterns take longer than a second is denied: agents write texts, and some patterns take exponential time.
 * @throws PLUGIN_CONFIG_INVALID naming the pattern that is not a regular expression
 */
export function createRedactHook({
  name = 'hook-redact',
  patterns,
  agents,
  on = ['delivery', 'tool_result'],
}: {
  readonly name?: string;
  readonly patterns: readonly RedactPattern[];
  readonly agents?: readonly string[];
  readonly on?: readonly TextQuestion['on'][];
}): HookProvider & { decide(question: HookQuestion): HookDecision } {
  const redactions = patterns.map(toRedaction);
  return {
    contract: 1,
    name,
    required: true,
    decidesOn: on,
    decide(question) {
      if (!hasText(question) || !on.includes(question.on) || !isMeant(question, agents))
        return { decision: 'allow' };
      return decideOn(question.text, redactions);
    },
  };
}

function decideOn(original: string, redactions: readonly Redaction[]): HookDecision {
  try {
    const { text, count } = withinTime(() => redact(original, redactions), limitMs);
    if (count === 0) return { decision: 'allow' };
    return { decision: 'alter', text, reason: `${count} ${count === 1 ? 'replacement' : 'replacements'}` };
  } catch (error) {
    if (!isTimeUp(error)) throw error;
    return { decision: 'deny', reason: `the patterns took longer than ${limitMs} ms for this text` };
  }
}

function toRedaction(
  { pattern, flags = '', replacement = '[REDACTED]' }: RedactPattern,
  index: number,
): Redaction {
  try {
    return { expression: new RegExp(pattern, flags.includes('g') ? flags : `${flags}g`), replacement };
  } catch (cause) {
    // The message of the engine quotes the pattern, which can itself be a secret. Its last part is the reason.
    const reason = (cause as Error).message.split(': ').at(-1);
    throw pluginErrors.error(
      'PLUGIN_CONFIG_INVALID',
      `The configuration of plugin hook-redact is not valid: patterns[${index}] is not a regular expression: ${reason}.`,
      { details: { plugin: 'hook-redact' } },
    );
  }
}

type TextQuestion = Extract<HookQuestion, { readonly text: string }>;

const kinds: readonly string[] = [
  'delivery',
  'tool_result',
  'utterance',
  'input',
] satisfies TextQuestion['on'][];

function hasText(question: HookQuestion): question is TextQuestion {
  return kinds.includes(question.on);
}

function isMeant(question: TextQuestion, agents: readonly string[] | undefined): boolean {
  if (agents === undefined) return true;
  const { agents: all } = question;
  const to = question.on === 'delivery' ? question.to : question.agentId;
  const name = all.find(({ agentId }) => agentId === to)?.name;
  return agents.some((wanted) => wanted === to || wanted === name);
}

function redact(original: string, redactions: readonly Redaction[]): { text: string; count: number } {
  let count = 0;
  const text = redactions.reduce(
    (current, { expression, replacement }) =>
      current.replace(expression, (match) => {
        // A pattern that fits nothing as well, such as a*, would otherwise put its replacement between all letters.
        if (match === '') return '';
        count++;
        return replacement;
      }),
    original,
  );
  return { text, count };
}

/**
 * Runs synchronous work, and stops it at the time limit, within a regular expression as well: nothing else in the
 * process can do that. The work is our own code; the context keeps nothing out.
 * @throws an error with the code ERR_SCRIPT_EXECUTION_TIMEOUT at the time limit
 */
function withinTime<T>(work: () => T, limitMs: number): T {
  place.work = work;
  try {
    return call.runInContext(place, { timeout: limitMs }) as T;
  } finally {
    place.work = null;
  }
}

function isTimeUp(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
