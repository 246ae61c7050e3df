import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { commandTable } from './commands/command-table.ts';
import { addHelp, pathOf, welcome } from './commands/help.ts';
import { EndedBySignal, exitCode } from './terminal/cli-error.ts';
import { type CommandRow, commandGroups, pagerOption } from './terminal/command.ts';
import { CommandContext } from './terminal/command-context.ts';
import type { CliContext } from './terminal/context.ts';

/** Runs the `hansard` command, and resolves to its exit code. It prints only through the context and never ends the process. */
export async function runCli(args: readonly string[], context: CliContext): Promise<number> {
  const usageErrors: string[] = [];
  const own = new CommandContext(context, (others) => runCli(others, context));
  try {
    if (args.length === 0) {
      await welcome(context);
      return exitCode.done;
    }
    const program = await createProgram(own, namedCommands(args), usageErrors);
    try {
      await program.parseAsync(withSearchedText(withoutHelpForUnknown(program, args)), { from: 'user' });
    } finally {
      await own.end();
    }
    return exitCode.done;
  } catch (error) {
    if (error instanceof CommanderError) {
      await printUsageErrors(context, usageErrors);
      return error.exitCode === 0 ? exitCode.done : exitCode.usage;
    }
    if (error instanceof EndedBySignal) return error.exitCode;
    if (error instanceof Error && error.name === 'AbortError' && own.readSignal.aborted)
      return context.signal.aborted ? exitCode.failed : exitCode.done;
    const { reportError } = await import('./terminal/report-error.ts');
    return reportError(context, error);
  }
}

/** They quote the arguments, which can be the names of files. What makes them harmless is loaded only if there are any. */
async function printUsageErrors({ stderr }: CliContext, usageErrors: readonly string[]): Promise<void> {
  if (usageErrors.length === 0) return;
  const { neutraliseControls } = await import('@hansard/events/plain');
  stderr.write(neutraliseControls(usageErrors.join('')));
}

/**
 * The program with all its commands. The `loaded` commands are complete; the others have a name, arguments and a
 * description. Wrong usage is added to `usageErrors`.
 */
export async function createProgram(
  context: CliContext,
  loaded: readonly CommandRow[] = commandTable,
  usageErrors: string[] = [],
): Promise<Command> {
  const program = new Command('hansard')
    .hook('preAction', (_, command) => {
      if (context instanceof CommandContext) context.begin(command);
    })
    .description('The record of what agents say, do and cause.')
    .version(version(), '-V, --version')
    .addHelpText(
      'after',
      [
        '',
        'SESSION is one word: latest, a task, TASK/ID, an id or its end, or the beginning of a title.',
        'EVENT is the next word: a position, a time (@15:04), latest, or a part of an id.',
        '`hansard help COMMAND` explains a command, `hansard help options` the options of all commands.',
        '',
        'Exit codes: 0 done, 1 not found or failed, 2 wrong usage, 3 damaged log, 4 secrets found by `secrets scan`.',
        'Example:',
        '  hansard demo',
      ].join('\n'),
    )
    .configureHelp({ subcommandTerm })
    .showSuggestionAfterError();
  // Commander lists the groups in the order of their first commands.
  for (const row of commandTable.toSorted((one, other) => groupOf(one) - groupOf(other))) {
    const command = program.command(row.name).description(row.description).helpGroup(`${row.group}:`);
    for (const argument of row.arguments ?? []) command.argument(...argument);
    if (row.usage !== undefined) command.usage(row.usage);
    if (!loaded.includes(row)) continue;
    (await row.load())(command, context);
    if (row.isPaged) command.addOption(pagerOption().hideHelp());
  }
  for (const parent of [program, ...program.commands.filter(({ commands: own }) => own.length > 0)])
    addHelp(parent);
  const nested = program.commands.flatMap(({ commands: subcommands }) => subcommands);
  for (const command of [program, ...program.commands, ...nested]) {
    command
      .showHelpAfterError(afterError(command))
      .exitOverride()
      .configureOutput({
        writeOut: (text) => context.stdout.write(text),
        writeErr: (text) => usageErrors.push(text),
      });
  }
  return program;
}

const groupOf = ({ group }: CommandRow): number => commandGroups.indexOf(group);

/** The commands that the arguments can name: the first word, or the words after `help`. `completion` names all. */
function namedCommands(args: readonly string[]): CommandRow[] {
  const words = args.filter((word) => !word.startsWith('-'));
  const names = words[0] === 'help' ? words.slice(1) : words.slice(0, 1);
  return names.includes('completion')
    ? [...commandTable]
    : commandTable.filter(({ name }) => names.includes(name));
}

/** `hansard mistyped --help` is an unknown command, as without `--help`. Commander would print the general help. */
function withoutHelpForUnknown(program: Command, args: readonly string[]): string[] {
  let command = program;
  for (const word of args.filter((arg) => !arg.startsWith('-'))) {
    if (command.commands.length === 0) break;
    const found = command.commands.find((one) => one.name() === word);
    if (found === undefined) return args.filter((arg) => arg !== '--help' && arg !== '-h');
    command = found;
  }
  return [...args];
}

/** `search '- x'` searches for a text. Commander would read it as an option; a space in front changes none of its words. */
function withSearchedText(args: readonly string[]): string[] {
  return args.map((arg, at) => (/^-[^=]*\s/.test(arg) && at === 1 && args[0] === 'search' ? ` ${arg}` : arg));
}

/** The usage, printed below a usage error. */
function afterError(command: Command): string {
  const path = pathOf(command).split(' ').slice(1);
  if (command.commands.length > 0) return `(\`${pathOf(command)} help\` lists the commands)`;
  const usage = `Usage: ${pathOf(command)} ${command.usage()}`;
  return `${usage}\n(\`hansard help ${path.join(' ')}\` shows examples)`;
}

/** Omits the `[options]` of every command, so that the descriptions fit into 80 columns. */
function subcommandTerm(command: Command): string {
  return `${command.name()} ${command.usage().replace(/\[options\] ?/, '')}`.trim();
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}
