/** Commands for metrics and summaries. */
import type { OperationId } from '#contract';
import type { ElsewhereCommand, OperationCommand } from './operation-command.ts';

/** An id of an environment, in examples. */
const ENVIRONMENT = '5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11';

export const OVERVIEW_COMMANDS = {
  getFrontdoorMetrics: {
    noun: 'metrics',
    verb: 'show',
    view: 'metrics',
    examples: ['metrics show', 'metrics show --duration P1D --step PT1H --json'],
  },
  getFrontdoorSparklines: {
    noun: 'metrics',
    verb: 'sparklines',
    view: 'sparklines',
    examples: ['metrics sparklines --duration PT15M', 'metrics sparklines --busiest 5'],
  },
  getEnvironmentMetrics: {
    noun: 'metrics',
    verb: 'environment',
    view: 'metrics',
    examples: [`metrics environment ${ENVIRONMENT} --duration PT1H`],
  },

  getShareMetrics: {
    noun: 'metrics',
    verb: 'share',
    view: 'metrics',
    examples: ['metrics share app --duration P1D --step PT1H'],
  },
  getShareSparklines: {
    noun: 'metrics',
    verb: 'shares',
    view: 'sparklines',
    examples: ['metrics shares --environment-id laptop', 'metrics shares --tokens app,shop'],
  },
  getBusiestShares: {
    noun: 'metrics',
    verb: 'busiest',
    view: 'busiest',
    examples: ['metrics busiest', 'metrics busiest --duration P7D --top 5'],
  },
  getFrontdoorAttention: {
    noun: 'frontdoors',
    verb: 'attention',
    view: 'json',
    examples: ['frontdoors attention'],
  },
  getFrontdoorSummary: {
    noun: 'frontdoors',
    verb: 'summary',
    view: 'json',
    examples: ['frontdoors summary'],
  },
  getInstallationSummary: { noun: 'api', verb: 'summary', view: 'json', examples: ['api summary'] },
  search: { noun: 'api', verb: 'search', view: 'json', examples: ['api search --q app'] },
} as const satisfies Partial<Readonly<Record<OperationId, OperationCommand | ElsewhereCommand>>>;
