import { Argument, type Command } from 'commander';
import type { AddCommand } from '../terminal/command.ts';
import { printPainted } from '../terminal/context.ts';

/** A command with the words that can follow it. */
interface Completed {
  /** Its words after `hansard`, such as `judge pack`. */
  readonly path: string;
  readonly description: string;
  readonly subcommands: readonly string[];
  readonly options: readonly { readonly flag: string; readonly description: string }[];
}

const shells = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

export const addCompletion: AddCommand = (command, context) => {
  // Replaces the argument of the table by one that knows its choices.
  (command.registeredArguments as Argument[]).splice(
    0,
    1,
    new Argument('<shell>', 'the shell').choices(Object.keys(shells)),
  );
  command
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  hansard completion bash >> ~/.bashrc',
        '  hansard completion zsh >> ~/.zshrc',
        '  hansard completion fish > ~/.config/fish/completions/hansard.fish',
      ].join('\n'),
    )
    .action((shell: keyof typeof shells) => {
      // All commands are loaded when this one is called: see `namedCommands`.
      const commands = command.parent?.commands ?? [];
      printPainted(context, shells[shell](commands.flatMap((one) => completedOf(one))).trimEnd());
    });
};

function completedOf(command: Command, before = ''): Completed[] {
  const path = `${before}${command.name()}`;
  const options = command.options.flatMap(({ long, description }) =>
    long == null ? [] : [{ flag: long, description }],
  );
  return [
    {
      path,
      description: command.description(),
      subcommands: command.commands.map((one) => one.name()),
      options: [...options, { flag: '--help', description: 'display help for command' }],
    },
    ...command.commands.flatMap((one) => completedOf(one, `${path} `)),
  ];
}

const isFirst = ({ path }: Completed) => !path.includes(' ');

/** Options of the command, its own commands, or files. */
function bashScript(commands: readonly Completed[]): string {
  const names = commands.filter(isFirst).map(({ path }) => path);
  const parents = commands.filter(({ subcommands }) => subcommands.length > 0);
  const cases = commands.map(
    ({ path, options, subcommands }) =>
      `    '${path}') words='${[...options.map(({ flag }) => flag), ...subcommands].join(' ')}' ;;`,
  );
  return `# Completion of hansard. Written by \`hansard completion bash\`.
_hansard() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="\${COMP_WORDS[1]}" words=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${names.join(' ')}' -- "$current"))
    return
  fi
  case "$command" in
    ${parents.map(({ path }) => `'${path}'`).join('|')}) [ "$COMP_CWORD" -gt 2 ] && command="$command \${COMP_WORDS[2]}" ;;
  esac
  case "$command" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  case "$current" in
    -*) ;;
    *) COMPREPLY+=($(compgen -f -- "$current")) ;;
  esac
}
complete -F _hansard hansard
`;
}

function zshScript(commands: readonly Completed[]): string {
  return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`;
}

function fishScript(commands: readonly Completed[]): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = commands.flatMap(({ path, description, options, subcommands }) => {
    const words = path.split(' ');
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
    const place = words
      .slice(0, -1)
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join('; and ');
    const where = place === '' ? '__fish_use_subcommand' : place;
    return [
      `complete -c hansard -n ${quoted(where)} -a ${quoted(words.at(-1) ?? '')} -d ${quoted(description)}`,
      ...(subcommands.length > 0
        ? []
        : options.map(
            (option) =>
              `complete -c hansard -n ${quoted(seen)} -l ${option.flag.slice(2)} -d ${quoted(option.description)}`,
          )),
    ];
  });
  return `# Completion of hansard. Written by \`hansard completion fish\`.\n${lines.join('\n')}\n`;
}
