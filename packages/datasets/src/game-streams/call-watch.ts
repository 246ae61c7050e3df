import {
  type CapturedEvent,
  isEventOf,
  isPlainObject,
  type JsonObject,
  type JsonValue,
} from '@hansard/events';
import type { Company, GameAudience } from './company.ts';
import type { GameMapping } from './game-mapping.ts';
import type { Sayings } from './sayings.ts';
import { type Moment, originOf, type StreamLine } from './stream-lines.ts';

interface OpenCall {
  readonly moment: Moment;
  readonly input: JsonValue | undefined;
  readonly audience: GameAudience;
  /** The pieces of text that the tool recorded. */
  readonly pieces: Set<string>;
}

/** Waits for the results of calls that speak or act. A refused call said and changed nothing. */
export class CallWatch {
  readonly leftOut: Record<string, number> = {};
  readonly #mapping: Pick<GameMapping, 'chat' | 'whispers' | 'actions'>;
  readonly #runId: string;
  readonly #company: Company;
  readonly #sayings: Sayings;
  readonly #mapped: ReadonlySet<string>;
  readonly #open = new Map<string, OpenCall>();

  constructor(mapping: GameMapping, runId: string, company: Company, sayings: Sayings) {
    this.#mapping = mapping;
    this.#runId = runId;
    this.#company = company;
    this.#sayings = sayings;
    const { chat, whispers, actions } = mapping;
    this.#mapped = new Set([chat.tools, whispers.tools, actions].flatMap(Object.keys));
  }

  add(moment: Moment): StreamLine[] {
    const { event } = moment;
    const key = `${event.agentId ?? ''} ${event.data.toolCallId}`;
    if (isEventOf(event, 'agent:tool_call')) {
      if (!this.#mapped.has(event.data.tool)) return [];
      const audience = this.#company.audience(event.agentId ?? '');
      this.#open.set(key, { moment, input: event.data.input, audience, pieces: new Set() });
      return [];
    }
    this.#followSpeech(event);
    const call = this.#open.get(key);
    if (call === undefined) return [];
    if (isEventOf(event, 'harness:hook_decision')) {
      // The final input of the tool.
      const { decision, input } = event.data as { decision: string; input?: JsonValue };
      if (decision === 'alter' && input !== undefined) this.#open.set(key, { ...call, input });
    } else if (isEventOf(event, 'agent:tool_result')) {
      this.#open.delete(key);
      if (event.data.status === 'completed') return this.#linesOf(call);
    }
    return [];
  }

  /** Notes the texts that a speaking tool recorded, and their receivers. */
  #followSpeech({ id, type, agentId = '', substance, cause }: CapturedEvent): void {
    if (type !== 'agent:piece_of_text' && type !== 'user:message') return;
    const causes = [cause ?? []].flat();
    for (const { moment, pieces, audience } of this.#open.values()) {
      const isCaused = causes.includes(moment.event.id);
      if (type === 'agent:piece_of_text') {
        if (isCaused) pieces.add(id);
      } else if (isCaused || (substance !== undefined && pieces.has(substance))) audience.reached(agentId);
    }
  }

  #linesOf({ moment, input, audience, pieces }: OpenCall): StreamLine[] {
    const { event, agent, turn } = moment;
    const tool = String(event.data.tool);
    const when = { timestamp: event.timestamp, turn };
    const origin = originOf(event, this.#runId);
    const fields = isPlainObject(input) ? (input as JsonObject) : {};
    const lines: StreamLine[] = [];
    let isWhole = input !== undefined;

    const spoken = ownValue(this.#mapping.chat.tools, tool);
    if (spoken !== undefined) {
      const message = fields[spoken];
      // A tool without recorded deliveries speaks to all, as the mapping says.
      const isTold = pieces.size > 0 || audience.receivers.length > 0;
      if (typeof message !== 'string') isWhole = false;
      else if (!isTold) lines.push(this.#sayings.chat({ moment, message }));
      else lines.push(this.#sayings.close({ moment, message, audience, isWhisper: false }));
    }
    const whisper = ownValue(this.#mapping.whispers.tools, tool);
    if (whisper !== undefined) {
      const message = fields[whisper.message];
      const to = namesIn(whisper.to === undefined ? undefined : fields[whisper.to]);
      if (typeof message === 'string')
        lines.push({ stream: 'whispers', line: { ...when, speaker: agent, to, message, ...origin } });
      else isWhole = false;
    }
    const action = ownValue(this.#mapping.actions, tool);
    if (action !== undefined && input !== undefined) {
      const { type: action_type, payload: shape } = action;
      const payload =
        shape === undefined ? (isPlainObject(input) ? fields : { input }) : shaped(shape, fields, agent);
      lines.push({ stream: 'agent_actions', line: { ...when, agent, action_type, payload, ...origin } });
    }
    if (!isWhole) this.leftOut[tool] = (this.leftOut[tool] ?? 0) + 1;
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

/** Looks up own keys only: a tool may have the name of an inherited property. */
function ownValue<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
