import type { Command } from 'commander';

/**
 * Adds `help`, which explains a command at any depth and rejects an unknown command, as the command line does. Commander's
 * own `help` would print the general help instead.
 */
export function addHelp(parent: Command): void {
  const example = parent.commands.at(-1)?.name();
  parent
    .helpCommand(false)
    .command('help')
    .argument('[command...]', 'the command to explain (default: list all commands)')
    .description('explain a command')
    .addHelpText('after', `\nExample:\n  ${pathOf(parent)} help ${example}`)
    .action(async (words: readonly string[]) => {
      let command = parent;
      for (const word of words) {
        const found = command.commands.find((one) => one.name() === word);
        if (found !== undefined) command = found;
        else if (command.commands.length > 0) await command.parseAsync([word], { from: 'user' });
        else command.error(`error: ${pathOf(command)} has no commands of its own, such as '${word}'`);
      }
      command.help();
    });
}

/** The full name of a command: `hansard judge pack`. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
