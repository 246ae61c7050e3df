import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addChat } from './commands/chat.ts';
import { addContext } from './commands/context.ts';
import { addDemo } from './commands/demo.ts';
import { addEvents } from './commands/events.ts';
import { addExport } from './commands/export.ts';
import { addHelp, pathOf } from './commands/help.ts';
import { addImport } from './commands/import.ts';
import { addJudge } from './commands/judge.ts';
import { addLs } from './commands/ls.ts';
import { addPlugins } from './commands/plugins.ts';
import { addReplay } from './commands/replay.ts';
import { addResume } from './commands/resume.ts';
import { addRun } from './commands/run.ts';
import { addSessionViews } from './commands/session-views.ts';
import { addShow } from './commands/show.ts';
import { addTail } from './commands/tail.ts';
import { addTimeline } from './commands/timeline.ts';
import { addTree } from './commands/tree.ts';
import { type ExitCode, exitCode } from './terminal/cli-error.ts';
import { type CliContext, note } from './terminal/context.ts';
import { explainError } from './terminal/explain-error.ts';

const commands = [
  addRun,
  addLs,
  addTree,
  addShow,
  addEvents,
  addTail,
  addReplay,
  addTimeline,
  addChat,
  addResume,
  addSessionViews,
  addContext,
  addImport,
  addExport,
  addJudge,
  addPlugins,
  addDemo,
];

/** Runs the `hansard` command. Everything it says goes through the context; it never ends the process. */
export async function runCli(args: readonly string[], context: CliContext): Promise<ExitCode> {
  const program = createProgram(context);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode.done;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.usage;
    if (error instanceof Error && error.name === 'AbortError' && context.readSignal.aborted)
      return context.signal.aborted ? exitCode.failed : exitCode.done;
    const explained = explainError(error);
    note(context, `hansard: ${explained.message}\n  ${explained.advice}`);
    if (context.env.HANSARD_DEBUG !== undefined) note(context, String((error as Error).stack));
    return explained.exitCode;
  }
}

/** The program with all its commands. */
export function createProgram(context: CliContext): Command {
  const program = new Command('hansard')
    .description('The record of what agents say, do and cause.')
    .version(version(), '-V, --version')
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 not found or failed, 2 wrong usage, 3 damaged log.\nExample:\n  hansard demo',
    )
    .configureHelp({ subcommandTerm })
    .showSuggestionAfterError();
  for (const add of commands) add(program, context);
  for (const parent of [program, ...program.commands.filter(({ commands: own }) => own.length > 0)])
    addHelp(parent);
  const nested = program.commands.flatMap(({ commands: subcommands }) => subcommands);
  for (const command of [program, ...program.commands, ...nested]) {
    command
      .showHelpAfterError(afterError(command))
      .exitOverride()
      .configureOutput({
        writeOut: (text) => context.stdout.write(text),
        writeErr: (text) => context.stderr.write(text),
      });
  }
  return program;
}

/** Below what was wrong: how it goes. */
function afterError(command: Command): string {
  const path = pathOf(command).split(' ').slice(1);
  if (command.commands.length > 0) return `(\`${pathOf(command)} help\` lists the commands)`;
  const usage = `Usage: ${pathOf(command)} ${command.usage()}`;
  return `${usage}\n(\`hansard help ${path.join(' ')}\` shows examples)`;
}

/** Without the `[options]` that every command has: the descriptions would have no room in 80 columns. */
function subcommandTerm(command: Command): string {
  return `${command.name()} ${command.usage().replace(/\[options\] ?/, '')}`.trim();
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}
