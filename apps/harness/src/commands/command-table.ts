import {
  type ArgumentRow,
  agentHelp,
  type CommandRow,
  dispatchHelp,
  eventHelp,
  taskHelp,
} from '../terminal/command.ts';

const task: ArgumentRow = ['<task>', taskHelp];
const dispatch: ArgumentRow = ['[dispatch]', dispatchHelp];
const latestDispatch: ArgumentRow = ['[dispatch]', dispatchHelp, 'latest'];
const agent: ArgumentRow = ['<agent>', agentHelp];
const event: ArgumentRow = ['<event>', eventHelp];

/** Every command, in the order of the help. Only the command that is called or explained is loaded. */
export const commandTable: readonly CommandRow[] = [
  {
    name: 'run',
    group: 'Record',
    description:
      'record dispatches: run an agent (--agent), or play recorded streams (.jsonl files of Agent SDK messages) with the times of the recording',
    arguments: [['<words...>', 'the paths of recorded streams, or with --agent the prompt']],
    load: async () => (await import('./run.ts')).addRun,
  },
  {
    name: 'ls',
    group: 'Find',
    description: 'list the tasks, or the dispatches of a task',
    arguments: [['[task]', taskHelp]],
    load: async () => (await import('./ls.ts')).addLs,
  },
  {
    name: 'search',
    group: 'Find',
    description: 'find events by the words of their texts: in all tasks, a task, or a dispatch',
    arguments: [
      ['<text>', 'the words, in quotes if there are several'],
      ['[task]', taskHelp],
      ['[dispatch]', dispatchHelp],
    ],
    load: async () => (await import('./search.ts')).addSearch,
  },
  {
    name: 'usage',
    group: 'Find',
    description: 'sum up tokens, cost, calls and failures by model, day, project, task, agent or tool',
    arguments: [['[task]', taskHelp]],
    load: async () => (await import('./usage.ts')).addUsage,
  },
  {
    name: 'compare',
    group: 'Find',
    description: 'compare two dispatches: figures, tools, results, and the first difference',
    arguments: [task, ['<dispatch>', dispatchHelp], ['<other>', 'the dispatch that it is compared with']],
    load: async () => (await import('./compare.ts')).addCompare,
  },
  {
    name: 'tree',
    group: 'Find',
    description:
      'show the dispatches of a task with their workers: status, model, turns, tokens, cost, duration',
    arguments: [task],
    load: async () => (await import('./tree.ts')).addTree,
  },
  {
    name: 'show',
    group: 'Read',
    description: 'print the session of a dispatch, or of every dispatch of the task',
    arguments: [task, dispatch],
    load: async () => (await import('./show.ts')).addShow,
  },
  {
    name: 'events',
    group: 'Read',
    description: 'print the events of a dispatch, one per line',
    arguments: [task, ['<dispatch>', dispatchHelp]],
    load: async () => (await import('./events.ts')).addEvents,
  },
  {
    name: 'tail',
    group: 'Read',
    description: 'print the last events of a dispatch (default: the latest); with -f, also new ones',
    arguments: [task, dispatch],
    load: async () => (await import('./tail.ts')).addTail,
  },
  {
    name: 'view',
    group: 'Read',
    description: 'open a page on this machine that shows what agents do and did, until Ctrl-C',
    arguments: [
      ['[task]', `${taskHelp} (default: a list of all dispatches)`],
      ['[dispatch]', dispatchHelp],
    ],
    load: async () => (await import('./view.ts')).addView,
  },
  {
    name: 'replay',
    group: 'Read',
    description:
      'print the events of a dispatch (default: the latest) again at their recorded pace, until Ctrl-C',
    arguments: [task, dispatch],
    load: async () => (await import('./replay.ts')).addReplay,
  },
  {
    name: 'timeline',
    group: 'Read',
    description: 'print all events of a task across its dispatches, ordered by time, dispatch and position',
    arguments: [task],
    load: async () => (await import('./timeline.ts')).addTimeline,
  },
  {
    name: 'chat',
    group: 'Record',
    description: 'talk to an agent that can create agents, and record everything',
    arguments: [
      ['[scenario]', 'a scenario file (YAML) with the lines of the user and the answers of the agents'],
    ],
    load: async () => (await import('./chat.ts')).addChat,
  },
  {
    name: 'resume',
    group: 'Record',
    description: 'resume a session at the end of its log',
    arguments: [task, latestDispatch],
    load: async () => (await import('./resume.ts')).addResume,
  },
  {
    name: 'dialog',
    group: 'Ask',
    description: 'print what agents said to each other, each utterance once, with who heard it and how',
    arguments: [task],
    load: async () => (await import('./views/dialog.ts')).addDialog,
  },
  {
    name: 'perspective',
    group: 'Ask',
    description: 'print what one agent heard, thought, did, received and said',
    arguments: [task, agent],
    load: async () => (await import('./views/perspective.ts')).addPerspective,
  },
  {
    name: 'heard',
    group: 'Ask',
    description:
      'show who heard each utterance; with an agent, everything it knew and its source; with --never, who did not hear one',
    arguments: [task, ['[agent]', `${agentHelp} (default: a table of all)`]],
    load: async () => (await import('./views/heard.ts')).addHeard,
  },
  {
    name: 'why',
    group: 'Ask',
    description: 'print the causes of an event, back to the first one',
    arguments: [task, event],
    load: async () => (await import('./views/why.ts')).addWhy,
  },
  {
    name: 'effects',
    group: 'Ask',
    description: 'print the effects of an event, down to the last one',
    arguments: [task, event],
    load: async () => (await import('./views/effects.ts')).addEffects,
  },
  {
    name: 'diff',
    group: 'Ask',
    description: 'compare an utterance with each of its deliveries, word by word',
    arguments: [task, event],
    load: async () => (await import('./views/diff.ts')).addDiff,
  },
  {
    name: 'agents',
    group: 'Ask',
    description: 'print the agents of a session as a tree, each below its creator',
    arguments: [task],
    load: async () => (await import('./views/agents.ts')).addAgents,
  },
  {
    name: 'hooks',
    group: 'Ask',
    description: 'list the interventions of hooks: hook, target, decision, effect',
    arguments: [task],
    load: async () => (await import('./views/hooks.ts')).addHooks,
  },
  {
    name: 'context',
    group: 'Ask',
    description: 'print the context of a model call: policy, detail, tokens, and every message',
    arguments: [
      task,
      latestDispatch,
      ['[call]', `a model call (agent:inference) or its answer: ${eventHelp}`, 'latest'],
    ],
    load: async () => (await import('./context.ts')).addContext,
  },
  {
    name: 'import',
    group: 'Exchange',
    description: 'import logs of other formats with their own ids; a repeated import adds only new events',
    arguments: [['<path...>', 'files, or folders with .jsonl files such as ~/.claude/projects']],
    load: async () => (await import('./import.ts')).addImport,
  },
  {
    name: 'export',
    group: 'Exchange',
    description: 'write a task, one of its dispatches, or all tasks in another format',
    arguments: [
      ['[task]', `${taskHelp} (default: all tasks, for formats that write several)`],
      ['[dispatch]', `${dispatchHelp} (default: depends on the format)`],
    ],
    load: async () => (await import('./export.ts')).addExport,
  },
  {
    name: 'judge',
    group: 'Exchange',
    description: 'run a blind judging: make packets, import the verdicts on them, and compare the two passes',
    usage: '[options] [command]',
    load: async () => (await import('./judge/judge.ts')).addJudge,
  },
  {
    name: 'verify',
    group: 'Maintain',
    description: 'check every stored byte: of all tasks, of a task, or of a dispatch',
    arguments: [['[task]', taskHelp], dispatch],
    load: async () => (await import('./verify.ts')).addVerify,
  },
  {
    name: 'scan-secrets',
    group: 'Maintain',
    description: 'find stored secrets, in all tasks, a task, or a dispatch',
    arguments: [['[task]', taskHelp], dispatch],
    load: async () => (await import('./scan-secrets.ts')).addScanSecrets,
  },
  {
    name: 'unlock',
    group: 'Maintain',
    description: 'show which process has claimed a dispatch, and end its claim after a question',
    arguments: [task, ['<dispatch>', dispatchHelp]],
    load: async () => (await import('./unlock.ts')).addUnlock,
  },
  {
    name: 'plugins',
    group: 'Maintain',
    description: 'list the configured plugins and those in plugin folders, with state, source and timing',
    load: async () => (await import('./plugins.ts')).addPlugins,
  },
  {
    name: 'setup',
    group: 'Maintain',
    description:
      'print the SQL that prepares the server of the configured store: its tables, and the rights of its roles',
    load: async () => (await import('./setup.ts')).addSetup,
  },
  {
    name: 'completion',
    group: 'Maintain',
    description: 'print the script that completes commands and options in a shell',
    arguments: [['<shell>', 'bash, zsh or fish']],
    load: async () => (await import('./completion.ts')).addCompletion,
  },
  {
    name: 'demo',
    group: 'Record',
    description: 'play recorded and scripted agents into the log, and print views of them',
    load: async () => (await import('./demo.ts')).addDemo,
  },
];
