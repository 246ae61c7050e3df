import { type CapturedEvent, isEventOf, type JsonValue } from '@hansard/events';
import { bytesField } from '@hansard/prompt';

/** Blocks of a message to an agent that are events of their own and not part of a rendered prompt. */
const unshownTypes: ReadonlySet<string> = new Set(
  ['image', 'document', 'audio', 'video', 'file', 'container_upload', 'search_result'].map(
    (block) => `user:${block}`,
  ),
);

/** Finds out whether a prompt that is rendered without a record leaves out an image or another file that the model was given. */
export class UnshownFiles {
  readonly #places = new Map<string, number>();
  /** The place of the latest file; null if none, or if a compaction replaced it. */
  #latest: number | null = null;
  #isObserved = false;

  get isAny(): boolean {
    return this.#latest !== null || this.#isObserved;
  }

  /** Takes the agent's next event. */
  add(event: CapturedEvent): void {
    const place = this.#places.size;
    if (!this.#places.has(event.id)) this.#places.set(event.id, place);
    if (isEventOf(event, 'session:compaction')) this.#compact(event.data);
    else if (isEventOf(event, 'agent:output'))
      this.#isObserved ||= event.data.parts.some(({ kind }) => kind === 'image');
    else if (unshownTypes.has(event.type)) this.#latest = place;
    else if (isEventOf(event, 'agent:tool_result') && holdsFile(event.data.output)) this.#latest = place;
  }

  /** The agent answers: later prompts do not have the output that it observed before. */
  answer(): void {
    this.#isObserved = false;
  }

  #compact({ summary, keptFrom }: { summary?: string | undefined; keptFrom?: string | undefined }): void {
    if (summary === undefined || this.#latest === null) return;
    const kept = keptFrom === undefined ? undefined : this.#places.get(keptFrom);
    if (kept === undefined || this.#latest < kept) this.#latest = null;
  }
}

/** Whether a result has a file as a block, with its bytes or by reference. */
function holdsFile(output: JsonValue | undefined): boolean {
  const left: (JsonValue | undefined)[] = [output];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value) && (bytesField(value) !== null || isReference(value))) return true;
    left.push(...Object.values(value));
  }
  return false;
}

function isReference({ type, source }: { readonly [key: string]: JsonValue | undefined }): boolean {
  if (type !== 'image' && type !== 'document') return false;
  if (typeof source !== 'object' || source === null || Array.isArray(source)) return false;
  return source.type === 'url' || source.type === 'file';
}
