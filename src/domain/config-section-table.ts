/** The names at the top of the configuration file of the programs (ADR 0103). */

/** Sections with the options of a program. */
export const PROGRAM_SECTIONS = ['up', 'control', 'gateway', 'tunnel', 'agent'] as const;
export type ProgramSection = (typeof PROGRAM_SECTIONS)[number];

/** What the agent makes on its machine. */
export const SHARE_SECTIONS = ['shares', 'accesses'] as const;
