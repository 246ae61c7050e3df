import { createInterface } from 'node:readline';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Harness } from '@hansard/compose';
import { type CapturedEvent, isEventOf } from '@hansard/events';
import type { IncomingSource } from '@hansard/provider';
import type { Session } from '@hansard/session';
import type { CliContext } from '../terminal/context.ts';

const endWord = '/end';
/** Typed words that are for the chat, and that the agent does not receive. */
const chatWords = ['/undo', '/retry', '/fork'] as const;
export type ChatWord = (typeof chatWords)[number];

/** Null: it is a line for the agent. */
export function chatWordOf(text: string): ChatWord | null {
  return chatWords.find((word) => word === text.trim()) ?? null;
}

/** A line with its source: a person who types, or what a communication provider names. */
export interface TypedLine {
  readonly text: string;
  readonly source: IncomingSource;
  /** The session has it already: a communication provider delivered it. */
  readonly isHeard?: boolean;
}

/**
 * The lines of a conversation, until `/end`, the end of the input or that of the session. If a communication provider reads the terminal,
 * the session receives its lines as messages; otherwise they are read from standard input.
 */
export class TypedLines {
  readonly #context: CliContext;
  readonly #isConsole: boolean;
  /** Aborts when nothing more is typed. */
  readonly #over = new AbortController();
  readonly #typed: AsyncIterator<TypedLine>;
  /** What receives the next lines in place of the session. */
  readonly #claims: ((line: string | null) => void)[] = [];
  /** The last question. Never rejects. */
  #asked: Promise<unknown> = Promise.resolve();
  /** The words for the chat that the console delivered. */
  readonly #words: ChatWord[] = [];
  #wake = () => {};
  #first: Promise<IteratorResult<TypedLine>> | null = null;

  constructor(context: CliContext, harness: Harness) {
    this.#context = context;
    this.#isConsole =
      context.stdin.isTTY === true && harness.plugins.providers('CommunicationProvider').length > 0;
    this.#typed = this.#unclaimed(this.#isConsole ? this.#untilEnd() : this.#read());
  }

  /** For the session: takes the words for the chat, `/end`, and what is typed after it. */
  onIncoming(text: string): boolean {
    if (!this.#isConsole) return false;
    const claim = this.#claims.shift();
    if (claim !== undefined) {
      claim(text);
      return true;
    }
    const word = chatWordOf(text);
    if (this.#over.signal.aborted || text.trim() === endWord) this.#over.abort();
    else if (word === null) return false;
    else this.#words.push(word);
    this.#wake();
    return true;
  }

  /** Asks the person something, after earlier questions. The next line is the answer; null: nothing more is typed. */
  ask(question: string): Promise<string | null> {
    const answered = this.#asked.then(async () => {
      if (this.#over.signal.aborted) return null;
      this.#context.stderr.write(question);
      const line = new Promise<string | null>((resolve) => this.#claims.push(resolve));
      void this.#next();
      return line;
    });
    this.#asked = answered;
    return answered;
  }

  /** Whether a line is typed. A console delivers lines only to a running session, so it is asked later. */
  async isTyped(): Promise<boolean> {
    return this.#isConsole || (await this.#next()).done !== true;
  }

  async *of(session: Session): AsyncGenerator<TypedLine> {
    const messages = session.messages[Symbol.asyncIterator]();
    let heard = messages.next();
    let isOver = false;
    try {
      for (;;) {
        const other = isOver ? nextTurn(null) : this.#next();
        const next = await Promise.race([heard.then((message) => ({ message })), other]);
        if (next === null) return;
        if ('message' in next) {
          if (next.message.done === true) return;
          heard = messages.next();
          yield* heardLines(next.message.value);
        } else if (next.done === true) {
          if (this.#context.signal.aborted) return;
          // What was delivered before the end is answered.
          isOver = true;
          await session.flushed();
        } else {
          this.#first = null;
          yield next.value;
        }
      }
    } finally {
      this.#over.abort();
      await messages.return?.();
    }
  }

  #next(): Promise<IteratorResult<TypedLine>> {
    this.#first ??= this.#typed.next();
    return this.#first;
  }

  /** The lines that answer no question. */
  async *#unclaimed(lines: AsyncGenerator<TypedLine>): AsyncGenerator<TypedLine> {
    try {
      for await (const line of lines) {
        const claim = this.#claims.shift();
        if (claim === undefined) yield line;
        else claim(line.text);
      }
    } finally {
      for (const claim of this.#claims.splice(0)) claim(null);
    }
  }

  async *#read(): AsyncGenerator<TypedLine> {
    const signal = AbortSignal.any([this.#context.signal, this.#over.signal]);
    for await (const line of createInterface({ input: this.#context.stdin, signal })) {
      if (line.trim() === endWord) return;
      if (line.trim() !== '') yield { text: line, source: { kind: 'user' } };
    }
  }

  /** The words for the chat: the session receives the lines. */
  async *#untilEnd(): AsyncGenerator<TypedLine> {
    const { stdin } = this.#context;
    const signal = AbortSignal.any([this.#context.signal, this.#over.signal]);
    signal.addEventListener('abort', () => this.#wake());
    stdin.on('end', () => this.#wake());
    for (;;) {
      for (const text of this.#words.splice(0)) yield { text, source: { kind: 'user' } };
      if (signal.aborted || stdin.readableEnded) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (this.#words.length > 0 || signal.aborted || stdin.readableEnded) resolve();
      });
    }
  }
}

function heardLines(message: CapturedEvent): TypedLine[] {
  if (!isEventOf(message, 'user:message')) return [];
  const { text, source } = message.data;
  return [{ text, source: source as IncomingSource, isHeard: true }];
}
