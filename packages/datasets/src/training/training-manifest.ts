import { createHash, type Hash } from 'node:crypto';
import {
  addRedactions,
  type CapturedEvent,
  type DispatchEnvelope,
  encodeEvent,
  type JsonObject,
} from '@hansard/events';
import { contextRendererVersion } from '@hansard/prompt';
import type { Conversation } from './conversation.ts';
import type { RowOptions } from './rows.ts';
import type { CallFacts, DroppedCall, DropReason } from './training-call.ts';
import type { TrainingFormat, TrainingFormatId } from './training-formats.ts';

/** The contents and omissions of a file of training data. */
export interface TrainingManifest {
  readonly format: TrainingFormatId;
  readonly file: string;
  readonly rows: number;
  /** The size of the file. */
  readonly bytes: number;
  /** The SHA-256 of the file. */
  readonly sha256: string;
  /** The number of model calls in the rows, with recorded prompts and with prompts rendered without a record. */
  readonly calls: {
    readonly inRows: number;
    readonly recorded: number;
    readonly rendered: number;
    readonly shortened: number;
  };
  /** The images of messages that rows show, each as often as a row has it. */
  readonly images: number;
  /** The files that rows only name, by media type, each as often as a row has it. */
  readonly named: Readonly<Record<string, number>>;
  readonly filter: JsonObject;
  /** Requested agents that do not occur in any of the dispatches. */
  readonly missingAgents: readonly string[];
  readonly rendererVersion: number;
  /** The dispatches, each with the hash of its events. */
  readonly sources: readonly TrainedDispatch[];
  /** Dispatches that cannot be used, with the reason. */
  readonly refused: readonly { readonly dispatchId: string; readonly reason: 'narrative' }[];
  /** By reason: the number, and the first ones. */
  readonly dropped: Readonly<
    Partial<Record<DropReason, { readonly count: number; readonly first: readonly string[] }>>
  >;
}

export interface TrainedDispatch {
  readonly dispatchId: string;
  readonly events: number;
  /** The SHA-256 of its events as lines of JSON. */
  readonly sha256: string;
  readonly rows: number;
}

const shownDrops = 20;

/** Counts while rows are written. */
export class TrainingTally {
  readonly #file: Hash = createHash('sha256');
  readonly #sources: TrainedDispatch[] = [];
  readonly #refused: { dispatchId: string; reason: 'narrative' }[] = [];
  readonly #dropped = new Map<DropReason, { count: number; first: string[] }>();
  readonly #calls = { inRows: 0, recorded: 0, rendered: 0, shortened: 0 };
  readonly #named: Record<string, number> = {};
  #images = 0;
  #rows = 0;
  #bytes = 0;
  /** The dispatch that is being read. */
  #source = { events: 0, rows: 0, hash: createHash('sha256') };

  refuse({ dispatchId }: DispatchEnvelope): void {
    this.#refused.push({ dispatchId, reason: 'narrative' });
  }

  addEvent(event: CapturedEvent): void {
    this.#source.events += 1;
    this.#source.hash.update(`${encodeEvent(event)}\n`);
  }

  addRow(line: string, calls: readonly CallFacts[]): void {
    this.#rows += 1;
    this.#bytes += Buffer.byteLength(line);
    this.#source.rows += 1;
    this.#file.update(line);
    for (const { isRecorded, isShortened } of calls) {
      this.#calls.inRows += 1;
      this.#calls[isRecorded ? 'recorded' : 'rendered'] += 1;
      if (isShortened) this.#calls.shortened += 1;
    }
  }

  addFiles({ messages }: Conversation, { hasImages }: TrainingFormat, { files: ofRow }: RowOptions): void {
    for (const { message } of messages) {
      const { files = [] } = message.role === 'user' || message.role === 'tool' ? message : {};
      const shown = hasImages ? ofRow.imagesIn(message) : [];
      this.#images += shown.length;
      for (const file of files)
        if (!shown.includes(file)) addRedactions(this.#named, { [file.mediaType ?? file.kind]: 1 });
    }
  }

  end({ dispatchId }: DispatchEnvelope): void {
    const { events, rows, hash } = this.#source;
    this.#sources.push({ dispatchId, events, sha256: hash.digest('hex'), rows });
    this.#source = { events: 0, rows: 0, hash: createHash('sha256') };
  }

  drop({ reason, eventId }: DroppedCall): void {
    const drops = this.#dropped.get(reason) ?? { count: 0, first: [] };
    drops.count += 1;
    if (drops.first.length < shownDrops) drops.first.push(eventId);
    this.#dropped.set(reason, drops);
  }

  manifest(about: Pick<TrainingManifest, 'format' | 'file' | 'filter' | 'missingAgents'>): TrainingManifest {
    const { format, file, filter, missingAgents } = about;
    return {
      format,
      file,
      rows: this.#rows,
      bytes: this.#bytes,
      sha256: this.#file.digest('hex'),
      calls: this.#calls,
      images: this.#images,
      named: this.#named,
      filter,
      missingAgents,
      rendererVersion: contextRendererVersion,
      sources: this.#sources,
      refused: this.#refused,
      dropped: Object.fromEntries(this.#dropped),
    };
  }
}
