export type { AgentFixture, AgentScenario } from './cases/agent-run.ts';
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
  defineAgentConformance,
  defineModelConformance,
  defineToolConformance,
  type ModelUnderTest,
  modelConformanceCases,
  runAgentConformance,
  runModelConformance,
  runToolConformance,
  type ToolsUnderTest,
  toolConformanceCases,
} from './kits.ts';
