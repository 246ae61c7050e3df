import type { Command } from 'commander';

/**
 * Adds `help`, which explains a command of any depth, and takes a word that is none as a mistake, as the command line
 * itself does. The one that Commander adds answers it with the general help.
 */
export function addHelp(parent: Command): void {
  parent
    .helpCommand(false)
    .command('help')
    .argument('[command...]', 'the command to explain (default: all of them, a line each)')
    .description('explain a command')
    .addHelpText('after', `\nExample:\n  ${pathOf(parent)} help ${parent.commands.at(-1)?.name()}`)
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

/** How a command is called: `hansard judge pack`. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
