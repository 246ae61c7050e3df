import type { RunningToolCall } from '@hansard/provider';

/** The tool calls of a session that the hooks were asked about and that have not ended, in the order of their beginning. */
export class RunningCalls {
  readonly #calls = new Set<RunningCall>();

  begin(agentId: string, toolCallId: string, tool: string): RunningCall {
    const before = [...this.#calls];
    const call: RunningCall = new RunningCall(agentId, toolCallId, tool, {
      before: () => before.filter((one) => this.#calls.has(one)).map((one) => one.describe()),
      end: () => this.#calls.delete(call),
    });
    this.#calls.add(call);
    return call;
  }
}

interface AmongCalls {
  before(): readonly RunningToolCall[];
  end(): void;
}

export class RunningCall {
  readonly agentId: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly #among: AmongCalls;
  #created = 0;

  constructor(agentId: string, toolCallId: string, tool: string, among: AmongCalls) {
    this.agentId = agentId;
    this.toolCallId = toolCallId;
    this.tool = tool;
    this.#among = among;
  }

  /** The calls that began before this one and still run. */
  get before(): readonly RunningToolCall[] {
    return this.#among.before();
  }

  /** Its tool created an agent. */
  countCreated(): void {
    this.#created += 1;
  }

  end(): void {
    this.#among.end();
  }

  describe(): RunningToolCall {
    const { agentId, toolCallId, tool } = this;
    return { agentId, toolCallId, tool, created: this.#created };
  }
}
