import { type AgentFixture, type AgentScenario, agentCases } from './cases/agent-cases.ts';
import { communicationCases } from './cases/communication-cases.ts';
import type { CommunicationFixture, CommunicationScenario } from './cases/communication-run.ts';
import { type HookFixture, type HookScenario, hookCases } from './cases/hook-cases.ts';
import { type ModelFixture, type ModelScenario, modelCases } from './cases/model-cases.ts';
import { type ToolFixture, type ToolScenario, toolCases } from './cases/tool-cases.ts';
import {
  ConformanceKit,
  type ProviderConformanceCase,
  type ProviderConformanceResult,
  type ProviderUnderTest,
  type TestRunner,
} from './conformance-case.ts';

export type ModelUnderTest = ProviderUnderTest<ModelScenario, ModelFixture>;
export type ToolsUnderTest = ProviderUnderTest<ToolScenario, ToolFixture>;
export type AgentUnderTest = ProviderUnderTest<AgentScenario, AgentFixture>;
export type HooksUnderTest = ProviderUnderTest<HookScenario, HookFixture>;
export type CommunicationUnderTest = ProviderUnderTest<CommunicationScenario, CommunicationFixture>;

type Results = Promise<readonly ProviderConformanceResult[]>;

const models = new ConformanceKit(modelCases);
const tools = new ConformanceKit(toolCases);
const agents = new ConformanceKit(agentCases);
const hooks = new ConformanceKit(hookCases);
const communication = new ConformanceKit(communicationCases);

/** Every case for a `LanguageModelProvider`, in the order in which they run. */
export const modelConformanceCases: readonly ProviderConformanceCase<ModelScenario>[] = models.cases;

/** Every case for a `ToolProvider`, in the order in which they run. */
export const toolConformanceCases: readonly ProviderConformanceCase<ToolScenario>[] = tools.cases;

/** Every case for an `AgentProvider`, in the order in which they run. */
export const agentConformanceCases: readonly ProviderConformanceCase<AgentScenario>[] = agents.cases;

/** Every case for a `HookProvider`, in the order in which they run. */
export const hookConformanceCases: readonly ProviderConformanceCase<HookScenario>[] = hooks.cases;

/** Every case for a `CommunicationProvider`, in the order in which they run. */
export const communicationConformanceCases: readonly ProviderConformanceCase<CommunicationScenario>[] =
  communication.cases;

/** Defines a test for each case that applies to a model with these scenarios. */
export function defineModelConformance(options: TestRunner & ModelUnderTest): void {
  models.define(options);
}

/** Defines a test for each case that applies to tools with these scenarios. */
export function defineToolConformance(options: TestRunner & ToolsUnderTest): void {
  tools.define(options);
}

/** Defines a test for each case that applies to an agent with these scenarios. */
export function defineAgentConformance(options: TestRunner & AgentUnderTest): void {
  agents.define(options);
}

/** Defines a test for each case that applies to a hook with these scenarios. */
export function defineHookConformance(options: TestRunner & HooksUnderTest): void {
  hooks.define(options);
}

/** Defines a test for each case that applies to a communication provider with these scenarios. */
export function defineCommunicationConformance(options: TestRunner & CommunicationUnderTest): void {
  communication.define(options);
}

/**
 * Runs cases one after the other, without a test runner, and returns the result of each: all that apply to the model, or those
 * with the ids in `only`. An unknown id is a TypeError.
 */
export function runModelConformance(model: ModelUnderTest, only?: readonly string[]): Results {
  return models.run(model, only);
}

/** As `runModelConformance`, for tools. */
export function runToolConformance(provider: ToolsUnderTest, only?: readonly string[]): Results {
  return tools.run(provider, only);
}

/** As `runModelConformance`, for an agent. */
export function runAgentConformance(agent: AgentUnderTest, only?: readonly string[]): Results {
  return agents.run(agent, only);
}

/** As `runModelConformance`, for a hook. */
export function runHookConformance(hook: HooksUnderTest, only?: readonly string[]): Results {
  return hooks.run(hook, only);
}

/** As `runModelConformance`, for a communication provider. */
export function runCommunicationConformance(
  provider: CommunicationUnderTest,
  only?: readonly string[],
): Results {
  return communication.run(provider, only);
}
