import { isEventOf, isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import type { GameMapping } from './game-mapping.ts';
import { type Moment, originOf } from './moment.ts';
import type { StreamLine } from './stream-lines.ts';

/** Waits for the results of calls that speak or act: what was refused was not said, and changed nothing. */
interface CallWatch {
  add(moment: Moment): StreamLine[];
  readonly leftOut: Record<string, number>;
}

interface OpenCall {
  readonly moment: Moment;
  readonly input: JsonValue | undefined;
}

export function createCallWatch({ chat, whispers, actions }: GameMapping, runId: string): CallWatch {
  const open = new Map<string, OpenCall>();
  const leftOut: Record<string, number> = {};
  const mapped = new Set([chat.tools, whispers.tools, actions].flatMap(Object.keys));

  return {
    leftOut,

    add(moment) {
      const { event } = moment;
      const key = `${event.agentId ?? ''} ${event.data.toolCallId}`;
      if (isEventOf(event, 'agent:tool_call')) {
        if (mapped.has(event.data.tool)) open.set(key, { moment, input: event.data.input });
        return [];
      }
      const call = open.get(key);
      if (call === undefined) return [];
      if (isEventOf(event, 'harness:hook_decision')) {
        // What the tool was called with in the end.
        const { decision, input } = event.data as { decision: string; input?: JsonValue };
        if (decision === 'alter' && input !== undefined) open.set(key, { ...call, input });
      } else if (isEventOf(event, 'agent:tool_result')) {
        open.delete(key);
        if (event.data.status === 'completed') return linesOf(call);
      }
      return [];
    },
  };

  function linesOf({ moment: { event, agent, turn }, input }: OpenCall): StreamLine[] {
    const tool = String(event.data.tool);
    const when = { timestamp: event.timestamp, turn };
    const origin = originOf(event, runId);
    const fields = isPlainObject(input) ? (input as JsonObject) : {};
    const lines: StreamLine[] = [];
    let isWhole = input !== undefined;

    const spoken = ownValue(chat.tools, tool);
    if (spoken !== undefined) {
      const message = fields[spoken];
      if (typeof message === 'string')
        lines.push({ stream: 'chat', line: { ...when, speaker: agent, message, ...origin } });
      else isWhole = false;
    }
    const whisper = ownValue(whispers.tools, tool);
    if (whisper !== undefined) {
      const message = fields[whisper.message];
      const to = namesIn(whisper.to === undefined ? undefined : fields[whisper.to]);
      if (typeof message === 'string')
        lines.push({ stream: 'whispers', line: { ...when, speaker: agent, to, message, ...origin } });
      else isWhole = false;
    }
    const action = ownValue(actions, tool);
    if (action !== undefined && input !== undefined) {
      const { type: action_type, payload: shape } = action;
      const payload =
        shape === undefined ? (isPlainObject(input) ? fields : { input }) : shaped(shape, fields, agent);
      lines.push({ stream: 'agent_actions', line: { ...when, agent, action_type, payload, ...origin } });
    }
    if (!isWhole) leftOut[tool] = (leftOut[tool] ?? 0) + 1;
    return lines;
  }
}

function shaped(shape: Readonly<Record<string, string>>, fields: JsonObject, agent: string): JsonObject {
  return Object.fromEntries(
    Object.entries(shape).map(([key, field]) => [key, field === '$agent' ? agent : (fields[field] ?? null)]),
  );
}

function namesIn(value: JsonValue | undefined): string[] {
  return [value ?? []].flat().filter((name): name is string => typeof name === 'string');
}

/** A tool may be called as something that every object has. */
function ownValue<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
