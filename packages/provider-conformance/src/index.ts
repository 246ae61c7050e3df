export { type AgentFixture, type AgentScenario, agentConformance } from './cases/agent-cases.ts';
export { communicationConformance } from './cases/communication-cases.ts';
export type { CommunicationFixture, CommunicationScenario } from './cases/communication-run.ts';
export { type HookFixture, type HookScenario, hookConformance } from './cases/hook-cases.ts';
export { type ModelFixture, type ModelScenario, modelConformance } from './cases/model-cases.ts';
export { type ToolFixture, type ToolScenario, toolConformance } from './cases/tool-cases.ts';
export type {
  ConformanceKit,
  ProviderConformanceCase,
  ProviderConformanceResult,
  ProviderUnderTest,
  TestRunner,
} from './conformance-case.ts';
