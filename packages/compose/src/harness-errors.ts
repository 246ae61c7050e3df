import { defineErrors, type ErrorOf } from '@hansard/events/hansard-error';

/** The errors of a harness that is composed from a configuration, and of the words that name its sessions. */
export const harnessErrors = defineErrors('harness', {
  HARNESS_FOLDER_MISSING: {
    when: 'The folder that was named for the configuration and the log does not exist.',
    advice: 'Name the folder that has .projects or hansard.config.json: --root, or HANSARD_ROOT.',
  },
  HARNESS_FOLDER_FOREIGN: {
    when: 'A configuration or a log was found in a folder above, and belongs to another user.',
    advice: 'If you trust it, name its folder with --root.',
  },
  HARNESS_CONFIG_INVALID: {
    when: 'The configuration cannot be read, is not JSON, or has a key or a value that is not allowed.',
    advice: 'Correct the file at the place that the message names.',
  },
  HARNESS_NO_STORE: {
    when: 'The plugin under "store" of the configuration provides no store.',
    advice: 'The "store" of hansard.config.json must be a plugin that provides a DispatchStoreProvider.',
  },
  HARNESS_PROVIDER_UNKNOWN: {
    when: 'An agent or a language model is named that no loaded plugin has, or none is named where one must be.',
    advice:
      'Name its plugin under "plugins" in hansard.config.json; `hansard plugins` lists the loaded plugins.',
  },
  HARNESS_NAME_INVALID: {
    when: 'A word does not have the form of what it must name: a task, or an event.',
    advice: 'Name a task as PROJECT/SLUG, and an event by its position, its id or a time such as @15:04.',
  },
  HARNESS_NOT_FOUND: {
    when: 'No task, session, event or agent has the given name.',
    advice: '`hansard ls` lists the sessions.',
    details: ['isPlace?'],
  },
  HARNESS_AMBIGUOUS: {
    when: 'Several tasks, sessions, events or agents fit the given name; the message lists them.',
    advice: 'Name one as it stands in the message.',
  },
  HARNESS_OPTION_INVALID: {
    when: 'An option does not suit the requested work, or a required option is missing. Example: a folder for an export that is one text.',
    advice: 'Give the options that the message names.',
  },
  HARNESS_FILE_UNUSABLE: {
    when: 'A file that an option names cannot be read or has another content, or the place of an export cannot be written.',
    advice: 'Check the path that the message names.',
  },
  HARNESS_NARRATIVE: {
    when: 'What a model was given is asked of a session that was recorded as a narrative: its log does not hold it.',
    advice: '`hansard show SESSION` prints the session. Record with --fidelity full to keep contexts.',
  },
  HARNESS_NOT_RESUMABLE: {
    when: 'An agent cannot resume a session: the log of the session has no session of an engine. Or a chat cannot continue a file, because it is not a session log.',
    advice: 'Name a session or a file that can be continued, or begin a new session.',
  },
});

export type HarnessError = ErrorOf<typeof harnessErrors>;

/** `session`: its id, or the file that it is in. */
export function modelNotRecorded(session: string): HarnessError {
  return harnessErrors.error('HARNESS_PROVIDER_UNKNOWN', `The model of ${session} is not recorded.`, {
    advice: 'Name it: --model ID of a configured model, or a scenario file.',
  });
}

const most = 10;

/** The choices of an ambiguous name, each on a line of its own, at most ten of them. */
export function listChoices(lines: readonly string[], isMore = lines.length > most): string {
  return [...lines.slice(0, most), ...(isMore ? ['…'] : [])].map((line) => `\n  ${line}`).join('');
}
