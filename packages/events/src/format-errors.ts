import { defineErrors } from './hansard-error.ts';

/** The errors of reading and writing other formats. */
export const formatErrors = defineErrors('format', {
  FORMAT_UNREADABLE: {
    when: 'The file is missing or cannot be read.',
    advice: 'Check the path and its permissions.',
    details: ['file'],
  },
  FORMAT_EMPTY: {
    when: 'The file is empty, or holds only NUL bytes.',
    advice: 'Nothing was recorded in that file. Check that it is the right file.',
    details: ['file'],
  },
  FORMAT_NOT_JSONL: {
    when: 'No line of the file is a message or a record.',
    advice:
      'Give a `.jsonl` file with one message of the Agent SDK, or one record of a Claude Code transcript, per line.',
    details: ['file', 'line?'],
  },
  FORMAT_NO_RECORDS: {
    when: 'The log is empty, or none of its lines is a record of the format.',
    advice: 'Check that it is the right file, and that it was read as the right format.',
    details: ['file', 'lines?'],
  },
  FORMAT_OTHER_DIALECT: {
    when: 'All messages of the log are in the other dialect of the session log.',
    advice: 'Read it as that dialect; `detectSessionFormat` finds the dialect of a log.',
    details: ['file', 'dialect'],
  },
  FORMAT_NOT_FULL: {
    when: 'Training data was requested, and all dispatches have `narrative` fidelity.',
    advice: 'Record with fidelity `full`; sessions always do. Nothing was written.',
    details: ['dispatchIds'],
  },
  FORMAT_TOO_LARGE: {
    when: 'Training data was requested, and its estimated size is above the limit.',
    advice:
      'Choose fewer dispatches or agents, choose a format with one row per conversation such as `trl-chat` or `openai`, or raise `maxBytes`. Nothing was written.',
    details: ['bytes', 'rows', 'tokens', 'calls', 'maxBytes'],
  },
  FORMAT_VERDICT_INVALID: {
    when: 'A line of a file of verdicts is not a verdict, is about another packet, names an unknown player, or cites an event that the packet does not have. No line of the file is imported.',
    advice:
      'Correct the lines that the message names and import the file again; `judge pack` writes the packet again.',
    details: ['file', 'problems'],
  },
  FORMAT_MAPPING_INVALID: {
    when: 'The mapping of a game has a wrong field, or lacks a required one.',
    advice: 'Correct the field that the message names; the README of `@hansard/datasets` shows a mapping.',
    details: ['path', 'value'],
  },
  FORMAT_FILE_DIFFERS: {
    when: 'A file that is written while a dispatch is recorded has other lines than its log, such as those of another mapping.',
    advice: 'Name another folder, or remove the files: they are written anew from the log.',
    details: ['file', 'byte'],
  },
  FORMAT_MAPPING_MISSING: {
    when: 'Streams or packets were requested of a dispatch without a mapping. Only games that were imported from such streams need none.',
    advice: 'Name the mapping of its game: `--mapping FILE`. The README of `@hansard/datasets` shows one.',
  },
  FORMAT_NAME_TOO_LONG: {
    when: 'A packet for judges was requested, and an agent or player has a name of more than 200 characters or 20 words, which texts are not searched for.',
    advice: 'Such a log can only be read with its names: `hansard export` writes it. Nothing was written.',
    details: ['length', 'limit'],
  },
});
