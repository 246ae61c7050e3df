import type { Harness } from '@hansard/compose';
import { storePlace, toTaskName } from '@hansard/compose';
import type { Answer } from '../terminal/answer.ts';

/** Answers `hansard` without a command: how many sessions are here, and the three things to do next. */
export async function whatIsHere(harness: Harness): Promise<Answer> {
  const { store } = harness;
  const tasks = await store.listTasks();
  const { dispatches, next } = await store.listDispatches({ order: 'newest' });
  const [newest] = dispatches;
  const count = `${dispatches.length.toLocaleString('en')}${next === null ? '' : ' or more'}`;
  const head = 'Hansard, the record of what agents say, do and cause.';
  const place = storePlace(harness);
  if (newest === undefined)
    return {
      rows: [],
      text: [
        head,
        `No sessions yet in ${place}.`,
        '',
        ...steps([
          ['demo', 'play recorded and scripted agents into a log'],
          ['import ~/.claude/projects', 'import the sessions of Claude Code'],
          ['run "Say hello." --agent claude --task work/first', 'run an agent, and record it'],
        ]),
      ],
    };
  const title = 'error' in newest ? null : newest.envelope.title;
  return {
    rows: [],
    text: [
      head,
      `${count} ${count === '1' ? 'session' : 'sessions'} of ${tasks.length.toLocaleString('en')} ${tasks.length === 1 ? 'task' : 'tasks'} in ${place}.`,
      `The newest: ${title ?? toTaskName(newest.taskDir)}`,
      '',
      ...steps([
        ['ls', 'list the sessions'],
        ['show latest', 'read the newest one'],
        ['view', 'read them in your browser'],
      ]),
    ],
  };
}

function steps(next: readonly (readonly [command: string, what: string])[]): string[] {
  const width = Math.max(...next.map(([command]) => command.length));
  return next.map(([command, what]) => `  hansard ${command.padEnd(width)}  ${what}`);
}
