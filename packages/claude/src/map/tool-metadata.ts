import { firstLine, type JsonObject, type JsonValue } from '@hansard/events';
import {
  asAmount,
  asCount,
  asList,
  asName,
  asObject,
  asText,
  withoutUndefined,
} from '../lines/json-fields.ts';

/** The maximum length in characters of a text that is built to determine a size. */
const longestContent = 100_000_000;

/** Sizes in bytes of UTF-8 of a file before and after a tool changed it, if the result of the tool has them. */
function fileSizes(output: JsonObject | undefined): JsonObject {
  if (output === undefined) return {};
  const before = contentBefore(output);
  const after = contentAfter(output, before);
  return withoutUndefined({ sizeBefore: bytesOf(before), sizeAfter: bytesOf(after) });
}

function contentBefore(output: JsonObject): string | undefined {
  const original = output.originalFile ?? output.originalFileContents ?? output.original_file;
  if (typeof original === 'string') return original;
  const isNew = output.type === 'create' || output.oldString === '';
  return isNew ? '' : undefined;
}

function contentAfter(output: JsonObject, before: string | undefined): string | undefined {
  if (typeof output.updated_file === 'string') return output.updated_file;
  if (typeof output.content === 'string') return output.content;
  const edits = asList(output.edits)?.map((edit) => asObject(edit) ?? {}) ?? [
    { old_string: output.oldString, new_string: output.newString, replace_all: output.replaceAll },
  ];
  return edits.reduce<string | undefined>(applyEdit, before);
}

function applyEdit(content: string | undefined, edit: JsonObject): string | undefined {
  const from = asText(edit.old_string);
  const to = asText(edit.new_string);
  if (content === undefined || from === undefined || to === undefined) return undefined;
  if (from === '') return content === '' ? to : undefined;
  // A text that does not occur was matched in another way (quotes, spaces), so its length in the file is unknown.
  if (!content.includes(from)) return undefined;
  if (edit.replace_all !== true) return content.replace(from, () => to);
  const mostHits = content.length / from.length;
  if (mostHits * to.length > longestContent) return undefined;
  return content.replaceAll(from, () => to);
}

function bytesOf(content: string | undefined): number | undefined {
  return content === undefined ? undefined : Buffer.byteLength(content, 'utf8');
}

/** The result of a tool. */
interface ToolReturn {
  /** The result as the tool returned it (`tool_use_result`), if the stream has it. */
  readonly output: JsonObject | undefined;
  /** The result as the model reads it, and its text. */
  readonly content: JsonValue | undefined;
  readonly text: string;
  readonly isError: boolean;
}

/** The metadata of a tool's calls and results (D7): never contents of files, never output of commands. */
interface ToolDescription {
  readonly target: (input: JsonObject) => JsonValue | undefined;
  readonly call: (input: JsonObject) => JsonObject;
  readonly result?: (result: ToolReturn) => JsonObject;
}

const bash: ToolDescription = {
  target: ({ command }) => command,
  call: ({ command, description, timeout, run_in_background }) => ({
    command: asText(command),
    description: asText(description),
    timeoutMs: asAmount(timeout),
    runInBackground: run_in_background === true ? true : undefined,
  }),
  result: (result) => ({
    exitCode: exitCodeOf(result),
    meaning: asName(result.output?.returnCodeInterpretation),
    interrupted: result.output?.interrupted === true ? true : undefined,
    backgroundTaskId: asName(result.output?.backgroundTaskId),
  }),
};

const read: ToolDescription = {
  target: ({ file_path }) => file_path,
  call: ({ file_path, offset, limit, pages }) => ({
    path: asText(file_path),
    offset: asCount(offset),
    limit: asCount(limit),
    pages: asText(pages),
  }),
  result: ({ output }) => {
    const file = asObject(output?.file);
    return {
      kind: asName(output?.type),
      startLine: asCount(file?.startLine),
      numLines: asCount(file?.numLines),
      totalLines: asCount(file?.totalLines),
      numPages: asCount(file?.count),
      numCells: asList(file?.cells)?.length,
      size: asCount(file?.originalSize),
    };
  },
};

const edit: ToolDescription = {
  target: ({ file_path, notebook_path }) => file_path ?? notebook_path,
  call: ({ file_path, notebook_path, replace_all, edits, edit_mode, cell_id }) => ({
    path: asText(file_path ?? notebook_path),
    replaceAll: replace_all === true ? true : undefined,
    numEdits: asList(edits)?.length,
    editMode: asName(edit_mode),
    cellId: asName(cell_id),
  }),
  result: ({ output, isError }) => (isError ? {} : fileSizes(output)),
};

const search: ToolDescription = {
  target: ({ pattern }) => pattern,
  call: ({ pattern, path, glob, type, output_mode }) => ({
    pattern: asText(pattern),
    path: asText(path),
    glob: asName(glob),
    type: asName(type),
    outputMode: asName(output_mode),
  }),
  result: ({ output }) => ({
    numFiles: asCount(output?.numFiles),
    numMatches: asCount(output?.numMatches) ?? asCount(output?.totalMatches),
    numLines: asCount(output?.numLines),
    truncated: output?.truncated === true ? true : undefined,
  }),
};

const webFetch: ToolDescription = {
  target: ({ url }) => url,
  call: ({ url }) => ({ url: asText(url) }),
  result: ({ output }) => ({ bytes: asCount(output?.bytes), code: asCount(output?.code) }),
};

const webSearch: ToolDescription = {
  target: ({ query }) => query,
  call: ({ query, allowed_domains, blocked_domains }) => ({
    query: asText(query),
    allowedDomains: asList(allowed_domains),
    blockedDomains: asList(blocked_domains),
  }),
  result: ({ output, content, isError }) => ({ results: isError ? undefined : countHits(output, content) }),
};

const subAgent: ToolDescription = {
  target: ({ subagent_type, description }) => subagent_type ?? description,
  call: ({ description, subagent_type, name, model, run_in_background }) => ({
    description: asText(description),
    subagentType: asName(subagent_type),
    name: asName(name),
    model: asName(model),
    runInBackground: run_in_background === true ? true : undefined,
  }),
  result: ({ output }) => ({
    outcome: asName(output?.status),
    resolvedModel: asName(output?.resolvedModel),
    totalDurationMs: asAmount(output?.totalDurationMs),
    totalTokens: asCount(output?.totalTokens),
    totalToolUseCount: asCount(output?.totalToolUseCount),
  }),
};

const descriptions: ReadonlyMap<string, ToolDescription> = new Map(
  Object.entries({
    Bash: bash,
    Read: read,
    Edit: edit,
    MultiEdit: edit,
    NotebookEdit: edit,
    Write: edit,
    Glob: search,
    Grep: search,
    WebFetch: webFetch,
    web_fetch: webFetch,
    WebSearch: webSearch,
    web_search: webSearch,
    Agent: subAgent,
    Task: subAgent,
  }),
);

/** Input keys that name the target of a tool, in order of preference. */
const targetKeys = [
  'file_path',
  'path',
  'notebook_path',
  'url',
  'uri',
  'query',
  'pattern',
  'command',
  'skill',
  'subject',
  'title',
  'name',
  'to',
  'task_id',
  'taskId',
  'description',
];

const anyTool: ToolDescription = {
  target: (input) => targetKeys.map((key) => input[key]).find((value) => asName(value) !== undefined),
  call: () => ({}),
};

/** The target and the metadata of a tool call. For an MCP tool: its server, its name and the keys of its arguments. */
export function describeToolCall(
  tool: string,
  input: JsonObject,
): { readonly target: string | undefined; readonly metadata: JsonObject } {
  const description = descriptions.get(tool) ?? anyTool;
  const mcp = /^mcp__(.+?)__(.+)$/s.exec(tool);
  const metadata =
    mcp === null
      ? description.call(input)
      : { server: mcp[1], tool: mcp[2], argumentKeys: Object.keys(input) };
  const target = asText(description.target(input));
  return {
    target: target === undefined ? undefined : firstLine(target),
    metadata: withoutUndefined(metadata),
  };
}

/** Metadata of a call that comes from the result of the tool. */
export function describeToolReturn(tool: string, result: ToolReturn): JsonObject {
  return withoutUndefined(descriptions.get(tool)?.result?.(result) ?? {});
}

/** A failed command has its exit code in the first line. A successful one ended with 0, unless the result names another code. */
function exitCodeOf({ output, text, isError }: ToolReturn): number | undefined {
  if (isError) {
    const code = /^(?:Error: )?Exit code (\d+)$/.exec(firstLine(text) ?? '')?.[1];
    return code === undefined ? undefined : Number(code);
  }
  const hasEnded =
    typeof output?.stdout === 'string' &&
    output.interrupted !== true &&
    asName(output.backgroundTaskId) === undefined &&
    asName(output.returnCodeInterpretation) === undefined;
  return hasEnded ? 0 : undefined;
}

function countHits(output: JsonObject | undefined, content: JsonValue | undefined): number | undefined {
  const groups = asList(output?.results)?.map((group) => asList(asObject(group)?.content));
  if (groups !== undefined) return groups.reduce((count, hits) => count + (hits?.length ?? 0), 0);
  const isHit = (block: JsonValue) => asText(asObject(block)?.type) === 'web_search_result';
  const hits = asList(content)?.filter(isHit);
  return hits === undefined || hits.length === 0 ? undefined : hits.length;
}
