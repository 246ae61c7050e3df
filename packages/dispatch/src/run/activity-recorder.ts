import type { CapturedEvent, Delta, DispatchEnvelope, EnvelopeUpdates, NewEvent } from '@hansard/events';
import { DispatchTotals } from '@hansard/views/basics';
import type { CommunicationHub } from '../communication/communication-hub.ts';
import type { DispatchStore } from '../store/dispatch-store.ts';
import { LiveFeed } from '../streams/live-feed.ts';

export interface ActivityRecorderOptions {
  readonly store: DispatchStore;
  readonly taskDir: string;
  readonly envelope: DispatchEnvelope;
  readonly communication: CommunicationHub | undefined;
  /** When the recording begins that the agent plays; null where it runs now. */
  readonly recordedStart: string | null;
}

/** Puts what happens in one dispatch into the log first and before people's eyes then. Keeps the envelope as it is now. */
export class ActivityRecorder {
  readonly feed = new LiveFeed();
  /** What the events that were recorded state. */
  readonly totals = new DispatchTotals();
  readonly #store: DispatchStore;
  readonly #taskDir: string;
  readonly #communication: CommunicationHub | undefined;
  /** The model calls in `totals`: an event that is recorded again changes nothing in the log. */
  readonly #counted = new Set<string>();
  #envelope: DispatchEnvelope;
  #recordedTime: string | null;

  constructor({ store, taskDir, envelope, communication, recordedStart }: ActivityRecorderOptions) {
    this.#store = store;
    this.#taskDir = taskDir;
    this.#envelope = envelope;
    this.#communication = communication;
    this.#recordedTime = recordedStart;
  }

  get envelope(): DispatchEnvelope {
    return this.#envelope;
  }

  /** How far a recording is that the agent plays: the latest time of its events. Null where the agent runs now. */
  get recordedTime(): string | null {
    return this.#recordedTime;
  }

  /** Tells that the dispatch started. */
  start(): void {
    this.#communication?.dispatchStarted({ taskDir: this.#taskDir, envelope: this.#envelope });
  }

  /** Records an event; once it is durable, publishes it. */
  async record(event: NewEvent): Promise<CapturedEvent> {
    const captured = await this.#store.appendEvent(
      this.#taskDir,
      this.#envelope.dispatchId,
      this.#timed(event),
    );
    if (this.#recordedTime !== null && captured.timestamp > this.#recordedTime)
      this.#recordedTime = captured.timestamp;
    this.#count(captured);
    this.#communication?.eventRecorded({
      taskDir: this.#taskDir,
      envelope: this.#envelope,
      event: captured,
    });
    return captured;
  }

  /** Publishes a delta, which is recorded nowhere (D8). */
  publish(delta: Delta): void {
    this.feed.publish(delta);
    this.#communication?.deltaReceived({ taskDir: this.#taskDir, envelope: this.#envelope, delta });
  }

  async update(updates: EnvelopeUpdates): Promise<void> {
    this.#envelope = await this.#store.updateDispatch(this.#taskDir, this.#envelope.dispatchId, updates);
  }

  /** Completes the envelope, then tells that the dispatch ended. */
  async end(updates: EnvelopeUpdates): Promise<DispatchEnvelope> {
    await this.update(updates);
    this.#communication?.dispatchEnded({ taskDir: this.#taskDir, envelope: this.#envelope });
    return this.#envelope;
  }

  /** What happens while a recording is played happens at the time that it has reached. */
  #timed(event: NewEvent): NewEvent {
    const time = this.#recordedTime;
    return time === null || event?.timestamp !== undefined ? event : { ...event, timestamp: time };
  }

  #count(event: CapturedEvent): void {
    if (event.type === 'agent:inference') {
      if (this.#counted.has(event.id)) return;
      this.#counted.add(event.id);
    }
    this.totals.observe(event);
  }
}
