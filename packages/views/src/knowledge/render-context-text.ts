import type { RequestTool } from '@hansard/events';
import { contentLabel, neutraliseControls, neutraliseControlsInLine } from '@hansard/events/plain';
import { formatTokens } from '@hansard/facts';
import type {
  CallRequest,
  ContextManifest,
  ContextMessage,
  ContextPolicy,
  RenderedContext,
} from '@hansard/prompt';
import { compactJson } from '../text/compact-json.ts';

/** A request as text: its manifest, each message, then each tool, with control characters made visible. */
export function renderContextText({
  messages,
  manifest,
  request,
}: Pick<RenderedContext, 'messages' | 'manifest'> & { readonly request?: CallRequest }): string {
  const head = [renderManifest(manifest), ...(request === undefined ? [] : requestLines(request))].join('\n');
  const tools = request?.tools.basis === 'recorded' ? (request.tools.value ?? []) : [];
  return [head, ...messages.map(messageText), ...tools.map(toolText)].join('\n\n');
}

/** The tools and parameters of a request, each on a line. What the log does not say is printed as not on record. */
export function requestLines({ tools, parameters }: CallRequest): string[] {
  const named = tools.value?.map(({ name }) => name).join(', ') ?? '';
  return [
    `tools    ${partInWords(tools, `${tools.value?.length}: ${named}`, 'as the engine named them at its start; their definitions are not on record')}`,
    `params   ${partInWords(parameters, JSON.stringify(parameters.value), 'as the engine stated them for the turn; others are not on record')}`,
  ].map(neutraliseControlsInLine);
}

function partInWords(
  { basis, id, isWhole }: CallRequest['tools'] | CallRequest['parameters'],
  value: string,
  /** What an engine that only names them leaves out, in words. */
  limits: string,
): string {
  switch (basis) {
    case 'none':
      return 'none';
    case 'names':
      return `${value}, ${limits}`;
    case 'lost':
      return `not in the log, which names them as ${id}`;
    case 'absent':
      return 'not on record';
    case 'recorded':
      return `${value}${isWhole ? '' : ', with texts left out or redacted'}, ${id}`;
  }
}

function toolText({ name, description, inputSchema, details }: RequestTool): string {
  return [
    neutraliseControlsInLine(`── tool ${name}`),
    ...(description === undefined ? [] : [neutraliseControls(description)]),
    ...(inputSchema === undefined ? [] : [neutraliseControlsInLine(`input ${JSON.stringify(inputSchema)}`)]),
    ...(details === undefined ? [] : [neutraliseControlsInLine(`details ${JSON.stringify(details)}`)]),
  ].join('\n');
}

/** A manifest as a few lines of text. */
export function renderManifest({
  policy,
  messages,
  tokens,
  parts,
  omitted,
  prefix,
  hash,
}: ContextManifest): string {
  const size = tokens === null ? '' : `, ${formatTokens(tokens.prompt)} tokens (${tokens.counter})`;
  const lines = [
    `policy   ${policyInWords(policy)}`,
    `prompt   ${messages} messages${size}`,
    ...parts.map(({ kind, detail, messages: shown, tokens: taken, first, last }) => {
      const took = taken === undefined ? '' : `, ${formatTokens(taken)} tokens`;
      return `  ${detail.padEnd(7)}${partNames[kind]}: ${shown}${took}, ${first === last ? first : `${first} to ${last}`}`;
    }),
    ...omissions(omitted),
    `prefix   ${prefix.messages} messages as in the previous call, ${Math.round(prefix.share * 100)}%`,
    `hash     ${hash}`,
  ];
  return lines.map(neutraliseControlsInLine).join('\n');
}

const partNames = { systemPrompts: 'system prompts', summary: 'summary', messages: 'messages' } as const;

function omissions({ old, supersededOutput, compacted }: ContextManifest['omitted']): string[] {
  return [
    [old, 'earlier messages'],
    [supersededOutput, 'outputs from before the last action'],
    [compacted, 'messages replaced by a summary'],
  ].flatMap(([count, what]) => (count === undefined ? [] : [`omitted  ${count} ${what}`]));
}

function policyInWords(policy: ContextPolicy): string {
  const { name, ...settings } = policy;
  const words = Object.entries(settings).map(([key, value]) => `${key} ${value}`);
  return [name, ...words].join(', ');
}

function messageText(message: ContextMessage): string {
  const { head, body } = contextMessageText(message);
  return [`── ${head}`, ...(body === '' ? [] : [body])].join('\n');
}

/** A message as a line about it and its content, with control characters made visible. */
export function contextMessageText(message: ContextMessage): {
  readonly head: string;
  readonly body: string;
} {
  const head = message.role === 'tool' ? `result of ${message.tool} (${message.toolCallId})` : message.role;
  const error = message.role === 'tool' && message.isError ? ', error' : '';
  return { head: neutraliseControlsInLine(`${head}${error}`), body: bodyText(message) };
}

function bodyText(message: ContextMessage): string {
  const calls = message.role === 'assistant' ? message.toolCalls : [];
  return [
    ...reasoningLines(message),
    ...fileLines(message),
    ...(message.text === '' ? [] : [neutraliseControls(message.text)]),
    ...calls.map(({ tool, toolCallId, input }) =>
      neutraliseControlsInLine(`calls ${tool} (${toolCallId}) ${compactJson(input)}`),
    ),
  ].join('\n');
}

function reasoningLines(message: ContextMessage): string[] {
  if (message.role !== 'assistant' || message.replay === undefined) return [];
  const { thinking = '(without text)' } = message;
  return [neutraliseControls(`reasoning given back: ${thinking}`)];
}

function fileLines(message: ContextMessage): string[] {
  if ((message.role !== 'user' && message.role !== 'tool') || message.files === undefined) return [];
  return [neutraliseControlsInLine(`sends files: ${message.files.map(contentLabel).join(' ')}`)];
}
