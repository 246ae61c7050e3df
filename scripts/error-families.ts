import { type ErrorFamily, eventErrors, formatErrors } from '@hansard/events';
import { harnessErrors } from '../packages/compose/src/index.ts';
import { dispatchErrors } from '../packages/dispatch/src/index.ts';
import { importErrors } from '../packages/import/src/index.ts';
import { contextErrors } from '../packages/prompt/src/index.ts';
import { pluginErrors, storeErrors } from '../packages/provider/src/index.ts';
import { redactionErrors } from '../packages/redaction/src/index.ts';
import { sessionErrors } from '../packages/session/src/index.ts';
import { traceErrors } from '../packages/traces/src/index.ts';
import { viewerErrors } from '../packages/viewer/src/index.ts';
import { claudeAgentErrors } from '../plugins/agent-claude/src/index.ts';
import { webErrors } from '../plugins/comm-web/src/index.ts';
import { scenarioErrors } from '../plugins/model-scripted/src/index.ts';

/** A family of errors as `docs/errors.md` shows it. */
export interface ErrorSection {
  readonly title: string;
  /** The name under which the package exports the family. */
  readonly table: string;
  /** The folder of the package that declares it. */
  readonly folder: string;
  readonly family: Pick<ErrorFamily<string>, 'name' | 'rows' | 'is'>;
  /** Text above and below the table. */
  readonly before?: string;
  readonly after?: string;
}

/** Every family of the repository, in the order of `docs/errors.md`. A test compares this list with the sources. */
export const errorSections: readonly ErrorSection[] = [
  { title: 'The vocabulary', table: 'eventErrors', folder: 'packages/events', family: eventErrors },
  { title: 'Stores', table: 'storeErrors', folder: 'packages/provider', family: storeErrors },
  {
    title: 'Plugins',
    table: 'pluginErrors',
    folder: 'packages/provider',
    family: pluginErrors,
    before:
      'In the order of the checks; the load report (`hansard plugins`) shows where each plugin stopped.',
  },
  { title: 'Dispatches', table: 'dispatchErrors', folder: 'packages/dispatch', family: dispatchErrors },
  { title: 'Sessions', table: 'sessionErrors', folder: 'packages/session', family: sessionErrors },
  { title: 'Contexts', table: 'contextErrors', folder: 'packages/prompt', family: contextErrors },
  {
    title: 'Other formats',
    table: 'formatErrors',
    folder: 'packages/events',
    family: formatErrors,
    after:
      'Something unusual on a single line is not an error: a damaged line, a reference that leads nowhere, an id that occurs twice.\nThe line is kept, and the report has a diagnostic with file and line.',
  },
  { title: 'Imports', table: 'importErrors', folder: 'packages/import', family: importErrors },
  { title: 'Harnesses', table: 'harnessErrors', folder: 'packages/compose', family: harnessErrors },
  { title: 'Redaction', table: 'redactionErrors', folder: 'packages/redaction', family: redactionErrors },
  { title: 'Traces', table: 'traceErrors', folder: 'packages/traces', family: traceErrors },
  {
    title: 'The live Claude agent',
    table: 'claudeAgentErrors',
    folder: 'plugins/agent-claude',
    family: claudeAgentErrors,
    before: 'They end the dispatch as `crashed`, with the code in its `harness:error`.',
  },
  { title: 'The page of a run', table: 'webErrors', folder: 'plugins/comm-web', family: webErrors },
  {
    title: 'Messages from the page of a run',
    table: 'viewerErrors',
    folder: 'packages/viewer',
    family: viewerErrors,
    before: 'The page shows them; they are the answers of the viewer to what it sends.',
  },
  {
    title: 'Scenarios',
    table: 'scenarioErrors',
    folder: 'plugins/model-scripted',
    family: scenarioErrors,
  },
];
