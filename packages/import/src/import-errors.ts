import { defineErrors } from '@hansard/events';

/** The errors of importing logs. */
export const importErrors = defineErrors('import', {
  IMPORT_NO_LOGS: {
    when: 'A folder to import has no `.jsonl` file, in it or below.',
    advice: 'Name a file, or a folder that has some.',
    details: ['path'],
  },
  IMPORT_LINK_OUTSIDE: {
    when: 'A link in a folder to import leads out of that folder. Such a link is not followed.',
    advice: 'If you trust the place that the link names, import that place by its own path.',
    details: ['path', 'target'],
  },
  IMPORT_FORMAT_UNKNOWN: {
    when: 'The records of a file do not show any format that can be imported, or `as` names an unknown one.',
    advice: 'Only logs of the formats that the message lists can be imported.',
    details: ['file?', 'formats'],
  },
  IMPORT_PRODUCT_UNSUPPORTED: {
    when: 'A file is of a product whose logs cannot be imported yet. Of a folder, all its files of one product are one error.',
    advice: 'Nothing of it was imported. Import other files, or wait for a version that reads this product.',
    details: ['product', 'files'],
  },
  IMPORT_FOREIGN: {
    when: 'Less than half of the records of a file are of a known type of the format, or more than a tenth, and more than two, do not name their agent in a format in which records must name it.',
    advice: 'The file is not a log of this format. Nothing of it was imported.',
    details: ['file', 'as', 'product?'],
  },
  IMPORT_FORMAT_MISMATCH: {
    when: 'A file is to be imported as one format, and none of its records has that format.',
    advice: 'Leave the format out: the records show it.',
    details: ['file', 'as', 'detected'],
  },
  IMPORT_TASK_REQUIRED: {
    when: 'A log does not say which task it belongs to, and no task was named.',
    advice: 'Name the task (`task`).',
    details: ['files', 'format'],
  },
  IMPORT_FIDELITY_FIXED: {
    when: 'A log is imported again with another fidelity. A dispatch keeps the fidelity that it began with.',
    advice: 'Leave the fidelity out, or import the log into another task.',
    details: ['file', 'dispatchId', 'fidelity'],
  },
  IMPORT_AMBIGUOUS: {
    when: 'Two logs of one import have the same name and the same first record, and neither an id nor a time.',
    advice: 'Import each into a task of its own.',
    details: ['file', 'other'],
  },
  IMPORT_GIT_FAILED: {
    when: 'Git cannot read the repository whose checkpoints are to be imported, or is not installed.',
    advice: 'Name a folder of a local repository, and install Git.',
    details: ['folder'],
  },
  IMPORT_RUN_UNKNOWN: {
    when: 'An import is to be undone, and the store has no session that it created.',
    advice: 'The sessions of an import name its run in `source.run`. Nothing was deleted.',
    details: ['run?'],
  },
  IMPORT_PRICES_INVALID: {
    when: 'A price table is unreadable or has a wrong shape.',
    advice:
      'Correct the file: `{ "name": "ours", "version": "1", "date": "2026-01-31", "models": { "my-model": { "input": 3, "output": 15 } } }`, with prices in US dollars for a million tokens.',
    details: ['path'],
  },
});
