import { type ArgumentRow, type CommandRow, dispatchHelp, taskHelp } from '../terminal/command.ts';

const task: ArgumentRow = ['<task>', taskHelp];
const dispatch: ArgumentRow = ['[dispatch]', dispatchHelp];
const latestDispatch: ArgumentRow = ['[dispatch]', dispatchHelp, 'latest'];
const agent: ArgumentRow = ['<agent>', 'its name or id'];
const eventId: ArgumentRow = [
  '<id>',
  'the id of an event or a message, as `hansard dialog` and `hansard events --json` show it',
];

/** Every command, in the order of the help. Only the one that is called or explained is loaded. */
export const commandTable: readonly CommandRow[] = [
  {
    name: 'run',
    description:
      'record dispatches: of an agent that runs now (--agent), or of recorded streams (.jsonl of Agent SDK messages), each with the times of the recording',
    arguments: [['<words...>']],
    load: async () => (await import('./run.ts')).addRun,
  },
  {
    name: 'ls',
    description: 'list the tasks, or the dispatches of one',
    arguments: [['[task]', taskHelp]],
    load: async () => (await import('./ls.ts')).addLs,
  },
  {
    name: 'tree',
    description: 'the dispatches of a task with their workers: status, model, turns, tokens, cost, duration',
    arguments: [task],
    load: async () => (await import('./tree.ts')).addTree,
  },
  {
    name: 'show',
    description: 'the session of a dispatch as it went, or of every dispatch of the task',
    arguments: [task, dispatch],
    load: async () => (await import('./show.ts')).addShow,
  },
  {
    name: 'events',
    description: 'the events of a dispatch, a line each',
    arguments: [task, ['<dispatch>', dispatchHelp]],
    load: async () => (await import('./events.ts')).addEvents,
  },
  {
    name: 'tail',
    description: 'the last events of a dispatch (default: the one started last), and with -f those to come',
    arguments: [task, dispatch],
    load: async () => (await import('./tail.ts')).addTail,
  },
  {
    name: 'replay',
    description:
      'the events of a dispatch (default: the one started last) once more, at the pace in which they came, until Ctrl-C',
    arguments: [task, dispatch],
    load: async () => (await import('./replay.ts')).addReplay,
  },
  {
    name: 'timeline',
    description:
      'everything that happened on a task, across its dispatches: by time, then dispatch, then position',
    arguments: [task],
    load: async () => (await import('./timeline.ts')).addTimeline,
  },
  {
    name: 'chat',
    description: 'talk to an agent that can create agents; every word is in the log',
    arguments: [['[scenario]', 'a scenario file (YAML) that says who answers what']],
    load: async () => (await import('./chat.ts')).addChat,
  },
  {
    name: 'resume',
    description: 'resume a session exactly where its log ends',
    arguments: [task, latestDispatch],
    load: async () => (await import('./resume.ts')).addResume,
  },
  {
    name: 'dialog',
    description: 'what agents said to each other: each thing once, with who heard it and how',
    arguments: [task],
    load: async () => (await import('./views/dialog.ts')).addDialog,
  },
  {
    name: 'perspective',
    description: 'what one agent heard, thought, did, received and said',
    arguments: [task, agent],
    load: async () => (await import('./views/perspective.ts')).addPerspective,
  },
  {
    name: 'heard',
    description:
      'who heard what; or what one agent knew, and how it came to it; or who never heard something',
    arguments: [task, ['[agent]', 'its name or id (default: a table of all)']],
    load: async () => (await import('./views/heard.ts')).addHeard,
  },
  {
    name: 'why',
    description: 'what brought an event about, up to the beginning',
    arguments: [task, eventId],
    load: async () => (await import('./views/why.ts')).addWhy,
  },
  {
    name: 'effects',
    description: 'what an event brought about, down to the end',
    arguments: [task, eventId],
    load: async () => (await import('./views/effects.ts')).addEffects,
  },
  {
    name: 'diff',
    description: 'what was said beside what each agent got to hear, word by word',
    arguments: [task, eventId],
    load: async () => (await import('./views/diff.ts')).addDiff,
  },
  {
    name: 'agents',
    description: 'the agents of a session below those that created them',
    arguments: [task],
    load: async () => (await import('./views/agents.ts')).addAgents,
  },
  {
    name: 'hooks',
    description: 'what hooks did: who, on what, the decision, its effect',
    arguments: [task],
    load: async () => (await import('./views/hooks.ts')).addHooks,
  },
  {
    name: 'context',
    description: 'what a model saw when it was called: policy, detail, tokens, and every message',
    arguments: [
      task,
      latestDispatch,
      ['[call]', 'the id of a model call (agent:inference) or of its answer, or "latest"', 'latest'],
    ],
    load: async () => (await import('./context.ts')).addContext,
  },
  {
    name: 'import',
    description: 'bring logs of other formats into the log, with their own ids; again after they have grown',
    arguments: [['<path...>', 'files, or folders with .jsonl files such as ~/.claude/projects']],
    load: async () => (await import('./import.ts')).addImport,
  },
  {
    name: 'export',
    description: 'write a task or a dispatch of it in another format',
    arguments: [task, ['[dispatch]', `${dispatchHelp} (default: what the format is about)`]],
    load: async () => (await import('./export.ts')).addExport,
  },
  {
    name: 'judge',
    description:
      'blind judging: packets for judges, their verdicts, and how these move when the reasoning is shown',
    usage: '[options] [command]',
    load: async () => (await import('./judge/judge.ts')).addJudge,
  },
  {
    name: 'plugins',
    description: 'every plugin that the configuration names or its folders hold: state, source, timing',
    load: async () => (await import('./plugins.ts')).addPlugins,
  },
  {
    name: 'demo',
    description: 'play recorded and scripted agents into the log, and show what can be seen of them',
    load: async () => (await import('./demo.ts')).addDemo,
  },
];
