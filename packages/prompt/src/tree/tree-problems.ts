import type { Diagnostic } from '@hansard/events';

/**
 * - `branch_unknown`: a link names an event that is not in the log. What lies between is not known.
 * - `branch_ahead`: a link names an event that comes later. The link has the effect of an unknown link.
 * - `branch_other_agent`: a link names an event of an agent from which this one does not inherit. The link has the effect of an
 *   unknown link, except that `retracts` has no effect.
 * - `branch_cycle`: an agent inherits from itself, perhaps through others. Its transcript begins where the cycle begins.
 */
export type TreeProblemCode = 'branch_unknown' | 'branch_ahead' | 'branch_other_agent' | 'branch_cycle';

export interface TreeProblem extends Diagnostic<TreeProblemCode> {
  /** The event with the link. */
  readonly eventId: string;
}

interface Link {
  readonly eventId: string;
  readonly field: string;
  readonly target: string;
  readonly kind: 'unknown' | 'otherAgent' | 'cycle';
}

/** The links of a tree that lead nowhere, each once. */
export class TreeProblems {
  readonly #links = new Map<string, Link>();

  unknown(eventId: string, field: string, target: string): void {
    this.#add({ eventId, field, target, kind: 'unknown' });
  }

  otherAgent(eventId: string, field: string, target: string): void {
    this.#add({ eventId, field, target, kind: 'otherAgent' });
  }

  cycle(eventId: string, agentId: string): void {
    this.#add({ eventId, field: 'inherits', target: agentId, kind: 'cycle' });
  }

  /** `isInLog`: whether the log has an event with an id by now. */
  list(isInLog: (id: string) => boolean): TreeProblem[] {
    return [...this.#links.values()].flatMap((link) => {
      // An inherited head may come later in the log.
      if (link.field === 'inherits' && link.kind === 'unknown' && isInLog(link.target)) return [];
      return [problemOf(link, isInLog(link.target))];
    });
  }

  #add(link: Link): void {
    const key = `${link.eventId} ${link.field} ${link.target}`;
    if (!this.#links.has(key)) this.#links.set(key, link);
  }
}

function problemOf({ eventId, field, target, kind }: Link, isInLog: boolean): TreeProblem {
  switch (kind) {
    case 'cycle':
      return {
        ...{ code: 'branch_cycle', eventId },
        message: `The agent ${target} inherits its transcript from itself: its \`inherits\` in ${eventId} leads back to it.`,
      };
    case 'otherAgent':
      return {
        ...{ code: 'branch_other_agent', eventId },
        message: `The ${field} of ${eventId} is ${target}, an event of another agent that its agent does not inherit from.`,
      };
    default:
      return isInLog
        ? {
            ...{ code: 'branch_ahead', eventId },
            message: `The ${field} of ${eventId} is ${target}, which comes later in the log.`,
          }
        : {
            ...{ code: 'branch_unknown', eventId },
            message: `The ${field} of ${eventId} is ${target}, which is not in this log.`,
          };
  }
}
