import { readFile } from 'node:fs/promises';
import { describeIssues, type HansardError, messageOf } from '@hansard/events';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { type Scenario, scenarioSchema } from './scenario.ts';
import { scenarioErrors } from './scenario-errors.ts';

/**
 * Reads a scenario file.
 * @throws SCENARIO_UNREADABLE
 * @throws SCENARIO_INVALID naming each fault with its file, line and path
 */
export async function readScenario(path: string): Promise<Scenario> {
  let source: string;
  try {
    source = await readFile(path, 'utf8');
  } catch (cause) {
    throw scenarioErrors.error(
      'SCENARIO_UNREADABLE',
      `The scenario ${path} can't be read: ${messageOf(cause)}`,
      { cause, details: { path } },
    );
  }
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const faults = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
    place: `${path}:${lines.linePos(pos[0]).line}`,
    text: message,
  }));
  if (faults.length > 0) throw invalid(path, faults);
  return checkScenario(toValue(document, path), path, (keys) => `${path}:${lineOf(document, keys, lines)}`);
}

/**
 * A scenario with its defaults filled in. `name` is what errors call it, `placeOf` where in it a path is.
 * @throws SCENARIO_INVALID
 */
export function checkScenario(
  value: unknown,
  name: string,
  placeOf: (keys: readonly PropertyKey[]) => string = () => name,
): Scenario {
  const checked = scenarioSchema.safeParse(value);
  if (checked.success) return checked.data;
  throw invalid(
    name,
    checked.error.issues.map((issue) => ({
      place: placeOf(issue.path),
      text: describeIssues(new z.ZodError([issue]), value).text,
    })),
  );
}

interface Fault {
  readonly place: string;
  readonly text: string;
}

function invalid(name: string, faults: readonly Fault[], cause?: unknown): HansardError {
  const text = faults.map((fault) => `${fault.place}: ${fault.text}`).join('\n');
  return scenarioErrors.error('SCENARIO_INVALID', `The scenario ${name} is not valid.\n${text}`, {
    cause,
    details: { scenario: name, faults },
  });
}

/** The line of a value; of one that is missing, that of what it is missing in. */
function lineOf(document: Document, keys: readonly PropertyKey[], lines: LineCounter): number {
  for (let length = keys.length; length >= 0; length--) {
    const node: unknown = document.getIn(keys.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

/** Throws where an alias leads nowhere, or to more than a scenario can need. */
function toValue(document: Document, path: string): unknown {
  try {
    return document.toJS();
  } catch (cause) {
    throw invalid(path, [{ place: path, text: messageOf(cause) }], cause);
  }
}
