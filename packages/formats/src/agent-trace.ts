import { createHash } from 'node:crypto';
import type { JsonObject } from '@hansard/events';

/** What wrote a line of a file. */
export interface TracedOrigin {
  /** Where the conversation can be looked up: the address of the event. */
  readonly url: string;
  /** The session of the event. */
  readonly session: string;
  /** Null: not recorded. */
  readonly model: string | null;
  /** Whether a person changed the edit before it was made. */
  readonly isMixed: boolean;
}

export interface TracedFile {
  /** Relative to the root of the project, or absolute for a file outside. */
  readonly path: string;
  /** Null as origin: what wrote the line is not on record. */
  readonly lines: readonly { readonly text: string; readonly origin: TracedOrigin | null }[];
}

interface TraceRecord {
  /** A UUID. */
  readonly id: string;
  /** When the last of the edits was made. */
  readonly timestamp: string;
  readonly toolVersion: string;
  readonly files: readonly TracedFile[];
}

/**
 * A record of Agent Trace 0.1.0: which lines of which files come from which conversations. Lines that are not on record are in no range. There is no
 * `vcs`, because no recorded content is known to be that of a revision. A `content_hash` is `sha256:` and the digest of the lines of its range in UTF-8, each with a line feed.
 */
export function agentTrace({ id, timestamp, toolVersion, files }: TraceRecord): JsonObject {
  return {
    version: '0.1.0',
    id,
    timestamp,
    tool: { name: 'hansard', version: toolVersion },
    files: files.map(({ path, lines }) => ({ path, conversations: conversationsOf(lines) })),
    metadata: {
      'dev.hansard': {
        content: 'the last recorded content of each file',
        lines: files.reduce((sum, { lines }) => sum + lines.length, 0),
        notOnRecord: files.reduce(
          (sum, { lines }) => sum + lines.filter(({ origin }) => origin === null).length,
          0,
        ),
      },
    },
  };
}

function conversationsOf(lines: TracedFile['lines']): JsonObject[] {
  const ranges = new Map<string, { readonly origin: TracedOrigin; readonly of: JsonObject[] }>();
  for (let start = 0, end = 0; start < lines.length; start = end) {
    const { origin } = lines[start] as TracedFile['lines'][number];
    end = start + 1;
    while (end < lines.length && lines[end]?.origin?.url === origin?.url) end += 1;
    if (origin === null) continue;
    const text = lines.slice(start, end).map((line) => `${line.text}\n`);
    const hash = createHash('sha256').update(text.join('')).digest('hex');
    const known = ranges.get(origin.url) ?? { origin, of: [] };
    known.of.push({ start_line: start + 1, end_line: end, content_hash: `sha256:${hash}` });
    ranges.set(origin.url, known);
  }
  return [...ranges.values()].map(({ origin, of }) => ({
    url: origin.url,
    contributor: {
      type: origin.isMixed ? 'mixed' : 'ai',
      ...(origin.model === null ? {} : { model_id: modelId(origin.model) }),
    },
    ranges: of,
    related: [{ type: 'session', url: origin.session }],
  }));
}

const providers: readonly (readonly [RegExp, string])[] = [
  [/^claude-/, 'anthropic'],
  [/^(?:gpt-|o\d)/, 'openai'],
  [/^gemini-/, 'google'],
];

const longestModelId = 250;

/** The name of a model as models.dev has it: with its provider, where the name shows that. */
function modelId(model: string): string {
  const [, provider] = providers.find(([pattern]) => pattern.test(model)) ?? [];
  return (provider === undefined ? model : `${provider}/${model}`).slice(0, longestModelId);
}
