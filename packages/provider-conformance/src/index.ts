export type { AgentFixture, AgentScenario } from './cases/agent-run.ts';
export type { CommunicationFixture, CommunicationScenario } from './cases/communication-run.ts';
export type { HookFixture, HookScenario } from './cases/hook-run.ts';
export type { ModelFixture, ModelScenario } from './cases/model-run.ts';
export type { ToolFixture, ToolScenario } from './cases/tool-run.ts';
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
