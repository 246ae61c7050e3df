import {
  type CapturedEvent,
  type DispatchEnvelope,
  isEventOf,
  type NewEvent,
  newEvent,
} from '@hansard/events';
import { type OutgoingMessage, type ReachableDispatch, storeErrors } from '@hansard/provider';
import { describeFailure } from '../describe-failure.ts';
import { dispatchErrors, textOfMessage } from '../dispatch-errors.ts';
import type { FamilyMember, RunPlace } from './run-place.ts';
import { defaultMaxMessages, type WorkerOptions } from './worker-options.ts';

interface DispatchMessagesOptions {
  readonly options: { readonly taskDir: string; readonly workers?: WorkerOptions };
  readonly place: RunPlace;
  /** The current envelope of the sender. */
  readonly caller: () => DispatchEnvelope;
  readonly isWorker: (dispatchId: string) => boolean;
  readonly record: (event: NewEvent) => Promise<CapturedEvent>;
  readonly callEvent: (toolCallId: string, agentId?: string) => Promise<string | undefined>;
}

/** What one dispatch sends to those that run with it. */
export class DispatchMessages {
  readonly #options: DispatchMessagesOptions;
  /** Since the dispatch last heard a person or the outside world. */
  #sent = 0;

  constructor(options: DispatchMessagesOptions) {
    this.#options = options;
  }

  heard(event: CapturedEvent): void {
    if (isEventOf(event, 'user:message') && ['user', 'external'].includes(event.data.source.kind))
      this.#sent = 0;
  }

  reachable(): readonly ReachableDispatch[] {
    return [...this.#options.place.family.members].flatMap(([dispatchId, member]) =>
      member?.accepts() && this.#mayReach(dispatchId)
        ? [{ dispatchId, role: member.role, relation: this.#relationTo(dispatchId) }]
        : [],
    );
  }

  /** See `DispatchHost.send`. */
  async send({ to, text: given, toolCallId, agentId }: OutgoingMessage): Promise<string> {
    const { dispatchId: from } = this.#options.caller();
    const { dispatchId, member } = this.#receiver(to);
    const text = textOfMessage(given, dispatchId);
    this.#count();
    const links = {
      ...(agentId === undefined ? {} : { agentId }),
      ...(await this.#causeOf(toolCallId, agentId)),
    };
    const { id } = await this.#options.record(
      newEvent('agent:message_sent', { text, to: { dispatchId } }, links),
    );
    const source = {
      kind: 'agent',
      ...(agentId === undefined ? {} : { agentId }),
      dispatchId: from,
    } as const;
    try {
      if (!(await member.deliver(text, source, id))) throw ended(dispatchId, member);
    } catch (error) {
      // Without it, the log of the sender would read as if the message had arrived.
      await this.#options
        .record(newEvent('harness:error', describeFailure(error), { ...links, cause: id }))
        .catch(() => {});
      throw error;
    }
    return id;
  }

  async #causeOf(toolCallId: string | undefined, agentId: string | undefined): Promise<{ cause?: string }> {
    const cause = toolCallId === undefined ? undefined : await this.#options.callEvent(toolCallId, agentId);
    return cause === undefined ? {} : { cause };
  }

  /** @throws DISPATCH_NOT_REACHABLE, DISPATCH_ENDED, STORE_DISPATCH_NOT_FOUND */
  #receiver(to: string): { readonly dispatchId: string; readonly member: FamilyMember } {
    const { place, options, caller } = this.#options;
    const { dispatchId: own, role, parentDispatchId } = caller();
    const dispatchId = to === 'parent' ? parentDispatchId : to;
    if (dispatchId === null) throw this.#refused(to, 'has no parent that it could write to');
    if (dispatchId === own) throw this.#refused(to, 'cannot write to itself');
    const member = place.family.members.get(dispatchId);
    if (member === undefined && this.#relationTo(dispatchId) === 'other')
      throw storeErrors.error(
        'STORE_DISPATCH_NOT_FOUND',
        `No dispatch ${dispatchId} runs with ${own} of ${role}; a message reaches only dispatches that run together.`,
        { details: { taskDir: options.taskDir, dispatchId } },
      );
    if (!this.#mayReach(dispatchId))
      throw this.#refused(to, `may write only to its parent and its workers, not to ${dispatchId}`);
    if (!member?.accepts()) throw ended(dispatchId, member);
    return { dispatchId, member };
  }

  #mayReach(dispatchId: string): boolean {
    const relation = this.#relationTo(dispatchId);
    const { dispatchId: own } = this.#options.caller();
    return dispatchId !== own && (relation !== 'other' || this.#options.options.workers?.messages === 'all');
  }

  #relationTo(dispatchId: string): ReachableDispatch['relation'] {
    if (dispatchId === this.#options.caller().parentDispatchId) return 'parent';
    return this.#options.isWorker(dispatchId) ? 'worker' : 'other';
  }

  #refused(to: string, why: string): Error {
    const { dispatchId, role } = this.#options.caller();
    return dispatchErrors.error('DISPATCH_NOT_REACHABLE', `The dispatch ${dispatchId} of ${role} ${why}.`, {
      details: { dispatchId, to },
    });
  }

  /** @throws DISPATCH_MESSAGE_LIMIT */
  #count(): void {
    const limit = this.#options.options.workers?.maxMessages ?? defaultMaxMessages;
    const { dispatchId, role } = this.#options.caller();
    if (this.#sent >= limit)
      throw dispatchErrors.error(
        'DISPATCH_MESSAGE_LIMIT',
        `The dispatch ${dispatchId} of ${role} has sent ${limit} messages to others without hearing a person, which is the limit.`,
        { details: { dispatchId, limit } },
      );
    this.#sent += 1;
  }
}

function ended(dispatchId: string, member: FamilyMember | null | undefined): Error {
  const what =
    member == null ? 'does not run any more' : `of ${member.role} is ending, or its agent reads no messages`;
  return dispatchErrors.error(
    'DISPATCH_ENDED',
    `The dispatch ${dispatchId} ${what}: the message was not delivered.`,
    {
      details: { dispatchId },
    },
  );
}
