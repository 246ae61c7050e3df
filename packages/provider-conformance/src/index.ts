export type { AgentFixture, AgentScenario } from './cases/agent-cases.ts';
export type { CommunicationFixture, CommunicationScenario } from './cases/communication-run.ts';
export type { HookFixture, HookScenario } from './cases/hook-cases.ts';
export type { ModelFixture, ModelScenario } from './cases/model-cases.ts';
export type { ToolFixture, ToolScenario } from './cases/tool-cases.ts';
export type {
  ProviderConformanceCase,
  ProviderConformanceResult,
  ProviderUnderTest,
  TestRunner,
} from './conformance-case.ts';
export {
  type AgentUnderTest,
  agentConformanceCases,
  type CommunicationUnderTest,
  communicationConformanceCases,
  defineAgentConformance,
  defineCommunicationConformance,
  defineHookConformance,
  defineModelConformance,
  defineToolConformance,
  type HooksUnderTest,
  hookConformanceCases,
  type ModelUnderTest,
  modelConformanceCases,
  runAgentConformance,
  runCommunicationConformance,
  runHookConformance,
  runModelConformance,
  runToolConformance,
  type ToolsUnderTest,
  toolConformanceCases,
} from './kits.ts';
