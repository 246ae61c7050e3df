import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { DispatchRef, DispatchStore } from '@hansard/dispatch';
import type { HookProvider } from '@hansard/provider';
import type { Random } from '../random.ts';
import { flagOf, type GivenAnswer, judged } from './played.ts';
import type { TruthStore } from './truth-store.ts';

/** What a person says about a call: at random, so that the first answer in the log is the one that counts. */
export function randomAnswer(random: Random, callId: string, note: string): GivenAnswer {
  const decision = random.chance(0.7) ? 'approve' : 'refuse';
  const given = { callId, note, decision, by: 'user', answer: `answer ${note}` } as const;
  return random.chance(0.3) ? { ...given, input: { as: note } } : given;
}

interface Answering {
  /** The calls that it has answered. */
  readonly answered: Set<string>;
  readonly random: Random;
  readonly by: string;
}

/** Answers by letter the calls that the envelope names. */
export async function answerPending(
  store: DispatchStore,
  at: DispatchRef,
  { answered, random, by }: Answering,
  onAnswer: (answer: GivenAnswer) => void,
): Promise<void> {
  const { pending = [] } = (await store.getDispatchEnvelope(at.taskDir, at.dispatchId)) ?? {};
  for (const { callId } of pending) {
    if (answered.has(callId)) continue;
    answered.add(callId);
    const answer = randomAnswer(random, callId, `${by} ${answered.size}`);
    onAnswer(answer);
    const { by: _, ...letter } = answer;
    await store.sendLetter(at, { answer: { ...letter, scope: 'call' } });
  }
}

/** A process that answers calls of sessions in stores on disk. */
export class AnsweringProcess {
  readonly #child: ChildProcess;
  readonly #plays = new Map<string, (answer: GivenAnswer | null) => void>();

  constructor(kind: TruthStore) {
    const file = join(import.meta.dirname, 'answer-elsewhere.ts');
    this.#child = spawn(process.execPath, ['--conditions=@hansard/source', file, kind], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const { stdout } = this.#child;
    if (stdout === null) throw new Error('The process has no output.');
    createInterface({ input: stdout }).on('line', (line) => {
      const { path, answer } = JSON.parse(line);
      this.#plays.get(path)?.(answer);
    });
  }

  /** Answers in the store of a folder until the returned function has resolved. */
  answerIn(path: string, onAnswer: (answer: GivenAnswer) => void): () => Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#plays.set(path, (answer) => (answer === null ? resolve() : onAnswer(answer)));
    this.#child.stdin?.write(`open ${path}\n`);
    return async () => {
      this.#child.stdin?.write(`close ${path}\n`);
      await promise;
      this.#plays.delete(path);
    };
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }
}

/** Hooks that do to what is said, and to what people say, what the text says. */
export function readingHooks(
  pause: () => Promise<void>,
  onUtterance: (agentId: string) => void,
): HookProvider[] {
  return ['editor', 'judge'].map((name) => ({
    contract: 1,
    name,
    decidesOn: ['utterance', 'input'],
    async decide(question) {
      if (!('text' in question)) return { decision: 'allow' };
      const { text } = question;
      if (question.on === 'utterance') onUtterance(question.agentId ?? '');
      await pause();
      const flag = flagOf(text);
      if (name === 'editor')
        return flag === 'alter' ? { decision: 'alter', text: judged(text) } : { decision: 'allow' };
      if (flag === 'retry') return { decision: 'retry', reason: 'not so' };
      return flag === 'deny' ? { decision: 'deny', reason: 'never' } : { decision: 'allow' };
    },
  }));
}
