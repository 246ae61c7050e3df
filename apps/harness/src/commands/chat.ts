import { readFileSync, statSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import {
  isLogFile,
  modelNotRecorded,
  noteUncountedCost,
  openNamed,
  type SessionOfFile,
  toTaskName,
} from '@hansard/compose';
import { type DispatchLog, toDispatchRef } from '@hansard/dispatch';
import {
  type ContentPart,
  type DispatchEnvelope,
  definedOnly,
  type EventData,
  type Fidelity,
  isEventOf,
  type MediaPart,
  messageOf,
} from '@hansard/events';
import { readSessionState } from '@hansard/session';
import { Option } from 'commander';
import {
  type ConversationOptions,
  type ModelChoice,
  toModelChoice,
  withChatModel,
  withConversation,
} from '../session/chat-model.ts';
import { askPerson, converse, noteNothingLeft } from '../session/converse.ts';
import { TypedLines } from '../session/typed-lines.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, withCommonOptions, withExamples } from '../terminal/command.ts';
import { type CliContext, note } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';

interface ChatOptions extends ConversationOptions {
  readonly model?: string;
  readonly task?: string;
  readonly bot?: string;
  readonly system?: string;
  readonly resume?: string;
  readonly withHistory?: boolean;
  readonly fidelity?: Fidelity;
}

export const addChat: AddCommand = (command, context) => {
  withExamples(
    withCommonOptions(command)
      .option('--model <id>', 'talk to a configured language model instead of a scenario')
      .option(
        '--resume <session>',
        'continue a session, or a copy of a session log FILE.jsonl, at its end, with its own scenario or model unless you name another',
      )
      .option(
        '--task <project/slug>',
        'record under this task (default: chat/ and the name of the scenario, model or file)',
      )
      .option('--bot <id>', 'record as a session of this bot (default: bot of the configuration)')
      .option('--system <text>', 'set the system prompt of the agent')
      .option(
        '--with-history',
        'give the agent the outcomes of earlier sessions of the task, before its system prompt',
      )
      .option(
        '-i, --interactive',
        'continue with typed lines after the lines of the scenario; /undo takes the last message back, /retry asks for another answer, /fork copies the session, /end or Ctrl-D ends it',
      )
      .option(
        '--parallel <n>',
        'make up to this many tool calls of one answer at the same time (default: parallelToolCalls of the configuration, or 1)',
        parseCount({ from: 1, example: 4 }),
      )
      .addOption(
        new Option(
          '--fidelity <fidelity>',
          'record tool input and output (full, the default), or omit it (narrative): models do not have it after --resume',
        ).choices(['narrative', 'full']),
      )
      .addOption(
        new Option(
          '--attach <file>',
          'attach a file to the first message: an image, a PDF, a sound or a text; repeat it for more files',
        ).argParser((path: string, before: readonly string[] = []) => [...before, path]),
      )
      .option('-q, --quiet', 'print only what is said, not the events')
      .option('--view', 'serve a page of this machine that shows the conversation, and print its address'),
    'chat examples/scenarios/cafe.yaml',
    'chat examples/scenarios/cafe.yaml --attach notes.md',
    'chat --model model-ai-sdk --task talks/first',
    'chat --resume chat/cafe',
    'chat --resume 4K7Q --model model-ai-sdk',
    'chat --resume session.jsonl --model model-ai-sdk',
  ).action((scenario: string | undefined, options: ChatOptions) =>
    options.resume === undefined
      ? chat(context, scenario, options)
      : resume(context, options.resume, scenario, options),
  );
};

async function chat(context: CliContext, scenario: string | undefined, options: ChatOptions): Promise<void> {
  const choice = chooseModel(context, scenario, options);
  if (choice === null)
    throw new CliError(
      exitCode.usage,
      'A chat needs either a scenario file, a --model, or a session to --resume.',
      '`hansard help chat` has examples.',
    );
  const attached = readAttached(context, options.attach);
  await withConversation(context, options, (harness) =>
    withChatModel(choice, async ({ chat, inputs }) => {
      const task = options.task ?? defaultTask(choice);
      const { bot, withHistory, fidelity, system: systemPrompt, parallel: parallelToolCalls } = options;
      const isTyped = choice.kind === 'plugin' || options.interactive === true;
      const typed = isTyped ? new TypedLines(context, harness) : null;
      const { root, session } = await harness.chat({
        ...chat,
        ...(typed === null ? {} : { onIncoming: (text: string) => typed.onIncoming(text) }),
        onPending: (call) => askPerson(context, typed, call),
        task,
        ...definedOnly({ bot, withHistory, fidelity, systemPrompt, parallelToolCalls }),
      });
      await converse(context, {
        store: harness.store,
        session,
        root,
        inputs,
        typed,
        attached,
        json: options.json === true,
      });
      noteUncountedCost(
        harness,
        await harness.store.getDispatchEnvelope(session.taskDir, session.dispatchId),
      );
      const name = `${toTaskName(session.taskDir)}/${session.dispatchId}`;
      note(context, `Recorded as ${name}. \`hansard dialog ${name}\` prints it.`);
    }),
  );
}

async function resume(
  context: CliContext,
  word: string,
  scenario: string | undefined,
  options: ChatOptions,
): Promise<void> {
  const strange = (['bot', 'system', 'withHistory', 'fidelity'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (strange !== undefined) throw forNewSessions(strange === 'withHistory' ? 'with-history' : strange);
  await resumeSession(context, word, chooseModel(context, scenario, options), options);
}

/** The media types of files that become parts of their own. Any other file must be a text. */
const mediaTypes: Readonly<Record<string, readonly [MediaPart['kind'], string]>> = {
  '.png': ['image', 'image/png'],
  '.jpg': ['image', 'image/jpeg'],
  '.jpeg': ['image', 'image/jpeg'],
  '.gif': ['image', 'image/gif'],
  '.webp': ['image', 'image/webp'],
  '.pdf': ['document', 'application/pdf'],
  '.mp3': ['audio', 'audio/mpeg'],
  '.wav': ['audio', 'audio/wav'],
};

/** In bytes. The log keeps no larger content. */
const largestAttached = 16 * 1024 * 1024;

/** Files as parts of a message. */
function readAttached({ cwd }: CliContext, files: readonly string[] = []): ContentPart[] {
  return files.map((file): ContentPart => {
    const refuse = (why: string, cause?: unknown) =>
      new CliError(
        exitCode.usage,
        `The file ${file} can not be attached: ${why}.`,
        'Name another file, or leave out --attach.',
        { cause },
      );
    const name = basename(file);
    let bytes: Buffer;
    try {
      const { size } = statSync(resolve(cwd, file));
      if (size > largestAttached)
        throw refuse(`it has ${size} bytes, and at most ${largestAttached} are attached`);
      bytes = readFileSync(resolve(cwd, file));
    } catch (error) {
      throw error instanceof CliError ? error : refuse(messageOf(error), error);
    }
    const media = mediaTypes[extname(file).toLowerCase()];
    if (media !== undefined)
      return { kind: media[0], mediaType: media[1], base64: bytes.toString('base64'), name };
    try {
      return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), name };
    } catch (error) {
      throw refuse('it is neither a text nor an image, a PDF or a sound whose name says so', error);
    }
  });
}

/** Null: neither is named. */
function chooseModel(
  { cwd }: CliContext,
  scenario: string | undefined,
  { model }: ChatOptions,
): ModelChoice | null {
  if (scenario !== undefined && model !== undefined)
    throw new CliError(
      exitCode.usage,
      'A scenario and a --model can not be combined.',
      '`hansard help chat` has examples.',
    );
  if (scenario !== undefined) return { kind: 'scenario', path: resolve(cwd, scenario) };
  return model === undefined ? null : { kind: 'plugin', id: model };
}

function defaultTask(choice: ModelChoice): string {
  const name = choice.kind === 'scenario' ? basename(choice.path, extname(choice.path)) : choice.id;
  return `chat/${name}`;
}

/** Continues a session at the end of its log. `named`: with another scenario or model than its own. */
async function resumeSession(
  context: CliContext,
  word: string,
  named: ModelChoice | null,
  options: ConversationOptions & { readonly task?: string },
): Promise<void> {
  const attached = readAttached(context, options.attach);
  await withConversation(context, options, async (harness) => {
    const { store } = harness;
    const file = isLogFile(context.cwd, word) ? await harness.sessionOfFile(word, options.task) : null;
    if (file === null && options.task !== undefined) throw forNewSessions('task');
    const log =
      file === null
        ? (await openNamed(store, word)).log
        : file.copied === null
          ? null
          : await store.openDispatch(file.copied);
    const state = await readSessionState(
      log === null ? { events: file?.events ?? [] } : { store, ...toDispatchRef(log), copied: file?.events },
    );
    const own = log?.envelope.model ?? state.languageModel;
    if (named === null && own === null) throw modelNotRecorded(file?.name ?? log?.dispatchId ?? word);
    const choice = named ?? toModelChoice(own ?? '');
    // Before anyone types a line for it.
    if (choice.kind === 'plugin') harness.languageModel(choice.id);
    await withChatModel(choice, async ({ chat, inputs: lines }) => {
      const completion = log === null ? undefined : await lastCompletion(log);
      // A file that was not copied yet has no line of the scenario.
      const inputs = lines.slice(log === null ? 0 : state.heard);
      const isTyped = choice.kind === 'plugin' || options.interactive === true;
      const typed = isTyped ? new TypedLines(context, harness) : null;
      const hasEnded = log === null || hasStatusOfEnd(log.envelope, completion);
      if (hasEnded && !state.awaitsResponse && !state.hasOpenCalls && inputs.length === 0) {
        if (typed === null || !(await typed.isTyped())) {
          if (file !== null) await notePlace(context, file, state.notInLog);
          noteNothingLeft(
            context,
            `: ${log === null ? 'nothing was copied' : 'the session was not changed'}`,
          );
          return;
        }
      }
      const resumed = await harness.resumeChat(file ?? toDispatchRef(log as DispatchLog), {
        ...chat,
        ...definedOnly({ parallelToolCalls: options.parallel }),
        ...(typed === null ? {} : { onIncoming: (text: string) => typed.onIncoming(text) }),
        onPending: (call) => askPerson(context, typed, call),
      });
      await converse(context, {
        store,
        ...resumed,
        inputs,
        typed,
        attached,
        json: options.json === true,
        lastAnswer: completion?.result,
      });
      const { taskDir, dispatchId } = resumed.session;
      noteUncountedCost(harness, await store.getDispatchEnvelope(taskDir, dispatchId));
    });
  });
}

/** Says where the copy of a file is, and that the file has grown since. */
async function notePlace(
  context: CliContext,
  file: SessionOfFile,
  notInLog: readonly string[],
): Promise<void> {
  if (file.copied === null) return;
  await file.copy();
  const [first] = notInLog;
  if (first === undefined) return;
  note(
    context,
    `hansard: ${file.name} has grown since: ${notInLog.length} of its events, ${first} first, are not in the session. --task PROJECT/SLUG continues a new copy.`,
  );
}

type Completion = EventData<'session:complete'>;

/** The completion of a session if it is the last event: its result stays if nothing more is said. */
async function lastCompletion(log: DispatchLog): Promise<Completion | undefined> {
  const [last] = (await log.last(1)).events;
  return last !== undefined && isEventOf(last, 'session:complete') ? last.data : undefined;
}

/** A process that exited early can have left the status without the event of the end. */
function hasStatusOfEnd({ status }: DispatchEnvelope, completion: Completion | undefined): boolean {
  return status === 'completed' || (status !== 'running' && completion !== undefined);
}

function forNewSessions(option: string): CliError {
  return new CliError(
    exitCode.usage,
    `--${option} is for a new session, so it can not be combined with --resume.`,
    '`hansard help chat` has examples.',
  );
}
