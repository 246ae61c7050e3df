import type { Command } from 'commander';
import { Help } from 'commander';
import { commonOptions, pagerOption } from '../terminal/command.ts';
import type { CliContext } from '../terminal/context.ts';

/**
 * Adds `help`, which explains a command at any depth and rejects an unknown command, as the command line does. Commander's
 * own `help` would print the general help instead.
 */
export function addHelp(parent: Command): void {
  const isMain = parent.parent === null;
  const example = isMain ? 'show' : parent.commands.at(-1)?.name();
  parent
    .helpCommand(false)
    .command('help')
    .argument(
      '[command...]',
      `the command to explain${isMain ? ', or options' : ''} (default: list all commands)`,
    )
    .description(isMain ? 'explain a command, or the options of all commands' : 'explain a command')
    .helpGroup(isMain ? 'Help:' : 'Commands:')
    .addHelpText('after', `\nExample:\n  ${pathOf(parent)} help ${example}`)
    .action(async (words: readonly string[]) => {
      if (isMain && words.length === 1 && words[0] === 'options') {
        parent.configureOutput().writeOut?.(optionsHelp());
        return;
      }
      let command = parent;
      for (const word of words) {
        const found = command.commands.find((one) => one.name() === word);
        if (found !== undefined) command = found;
        else if (command.commands.length > 0) await command.parseAsync([word], { from: 'user' });
        else command.error(`error: ${pathOf(command)} has no commands of its own, such as '${word}'`);
      }
      // Not `help`, whose exit code is that of the process so far.
      command.outputHelp();
    });
}

/** The full name of a command: `hansard judge pack`. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** The options that the help of a command leaves out. */
function optionsHelp(): string {
  const help = new Help();
  const options = [...commonOptions.map((make) => make()), pagerOption()];
  const width = Math.max(...options.map((option) => help.optionTerm(option).length));
  const lines = options.map((option) =>
    help.formatItem(help.optionTerm(option), width, help.optionDescription(option), help),
  );
  return [
    'Options of all commands. `demo`, `completion` and `help` take no --json and no',
    '--utc, and only commands that read take --no-pager:',
    '',
    ...lines,
    '',
    'Example:',
    '  hansard ls --root ~/work --json',
    '',
  ].join('\n');
}

/** What is here, and what to do next. A store that cannot be read is explained by the commands that read it. */
export async function welcome(context: CliContext): Promise<void> {
  const { printLine } = await import('../terminal/context.ts');
  const { answerFromStore } = await import('../terminal/with-store.ts');
  const { whatIsHere } = await import('./welcome.ts');
  await answerFromStore(context, {}, whatIsHere);
  printLine(context, '\n`hansard help` lists all commands.');
}
