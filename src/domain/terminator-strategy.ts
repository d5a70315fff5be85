/** How a service of the fabric chooses among its terminators. */
export const TERMINATOR_STRATEGIES = ['smartrouting', 'weighted', 'random', 'ha'] as const;

export type TerminatorStrategy = (typeof TERMINATOR_STRATEGIES)[number];
