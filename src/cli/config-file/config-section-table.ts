/** The sections of the configuration file, and the commands whose options they have. */
import type { ProgramSection } from '#domain';

export interface ConfigSection {
  /** Where the section stands in the file. */
  readonly path: readonly [ProgramSection, ...string[]];
  /** The words of the command. */
  readonly words: readonly string[];
  /** Keys of options that the program cannot run without. */
  readonly required?: readonly string[] | undefined;
  /** Variables of the environment that Commander does not know, by the key over which they have precedence. */
  readonly variables?: Readonly<Record<string, string>>;
}

export const CONFIG_SECTIONS = {
  up: { path: ['up'], words: ['up'] },
  control: { path: ['control'], words: ['control'] },
  gateway: { path: ['gateway'], words: ['gateway'] },
  tunnelProxy: { path: ['tunnel', 'proxy'], words: ['tunnel', 'proxy'], required: ['identity', 'service'] },
  tunnelHost: { path: ['tunnel', 'host'], words: ['tunnel', 'host'], required: ['identity'] },
  agent: {
    path: ['agent'],
    words: ['agent', 'start'],
    variables: {
      api: 'FRONTDOOR_API_URL',
      dataDir: 'FRONTDOOR_AGENT_DIR',
      enrollmentToken: 'FRONTDOOR_ENROLLMENT_TOKEN',
      enrollmentTokenFile: 'FRONTDOOR_ENROLLMENT_TOKEN',
    },
  },
} as const satisfies Readonly<Record<string, ConfigSection>>;
