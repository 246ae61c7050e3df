import { type Command, Option } from 'commander';
import { agentHelp } from '../terminal/command.ts';

/** Adds the options that select events to a command that lists events. `agentWhat`: what `--agent` selects there. */
export function withFilterOptions(command: Command, agentWhat = 'print only events of this agent'): Command {
  const selecting = command
    .addOption(agentOption(agentWhat))
    .option(
      '--type <types>',
      "print only these types, such as 'agent:*' or 'agent:text,user:message'; 'hook' is what hooks did",
    )
    .option('--tool <tools>', "print only events of these tools, such as Bash or 'mcp__*,Read'")
    .option('--source <kinds>', 'print only messages from these: user, agent, system, external')
    .option('--failed', 'print only failures: of calls, of the engine, and denials by hooks')
    .option(
      '--text <text>',
      'print only events that contain this text, ignoring case; /…/ is a regular expression',
    );
  return withTimeLimits(selecting, 'print only events');
}

/** Adds the options that select sessions, to a command that lists the events of several. */
export function withSessionFilter(command: Command, botWhat = 'print only sessions of this bot'): Command {
  return command
    .option('--bot <id>', botWhat)
    .option('--role <role>', 'print only sessions whose agent has this role');
}

/** An option that names an agent, and can be given several times. */
export function agentOption(what: string): Option {
  return new Option('--agent <name>', `${what} (repeatable): ${agentHelp}`).argParser(
    (name: string, before: readonly string[] = []) => [...before, name],
  );
}

/** Adds `--since` and `--until`. `what` is what they select, such as `print only events`. */
export function withTimeLimits(command: Command, what: string): Command {
  return command
    .option(
      '--since <time>',
      `${what} from this time on, such as 2026-03-01, yesterday, 7d or 2026-03-01T15:04`,
    )
    .option('--until <time>', `${what} up to the end of this time`);
}
