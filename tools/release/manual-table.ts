/** What the manual page says beside the commands: the environment, the files and the exit statuses. */

export const ENVIRONMENT: Readonly<Record<string, string>> = {
  FRONTDOOR_API_URL: 'Address of the Management API; an option --api wins, and a profile does not.',
  FRONTDOOR_ACCOUNT_ID: 'The API account whose token FRONTDOOR_API_TOKEN is.',
  FRONTDOOR_API_TOKEN: 'Token of the API account.',
  FRONTDOOR_CREDENTIALS_FILE:
    'File with an API account and its token, as "frontdoor control" writes it at its first start.',
  FRONTDOOR_CA_FILE:
    'CA certificates (PEM) to verify the Management API with, instead of the certificates of the system.',
  FRONTDOOR_CLIENT_ID: 'OAuth client, instead of an API account.',
  FRONTDOOR_CLIENT_SECRET: 'Secret of the OAuth client.',
  FRONTDOOR_ID: 'The frontdoor that commands of the Management API concern.',
  FRONTDOOR_PROFILE: 'Name of the saved profile to use.',
  FRONTDOOR_AGENT_DIR: 'Data directory of the agent on this machine.',
  FRONTDOOR_ENROLLMENT_TOKEN: 'Enrollment code with which an agent enrolls at its first start.',
  FRONTDOOR_CONFIG: 'Configuration file, as the option --config names it.',
  FRONTDOOR_DATABASE: 'PostgreSQL database of the control plane, as a postgres: URL.',
  FRONTDOOR_TSIG_KEY: 'Key for updates of a name server (RFC 2136), as ALGORITHM:NAME:SECRET.',
  FRONTDOOR_SMTP_PASSWORD: 'Password of the user at the mail server.',
  FRONTDOOR_LOG: 'Least severe messages that are logged: debug, info, warn or error.',
  FRONTDOOR_LOG_FORMAT: 'Format of the log: text or json.',
  FRONTDOOR_NODE_OPTIONS: 'Options for the Node.js that the program runs on.',
  FRONTDOOR_FROM_SOURCES: 'In a clone, 1 runs the program from its sources instead of the bundle.',
};

export const FILES: Readonly<Record<string, string>> = {
  '/etc/frontdoor/frontdoor.yaml': 'Configuration of the programs of a server, with a section for each.',
  'frontdoor-data/':
    'Data directory of "up", "control" and "gateway" by default: database, keys, identities and logs.',
  'frontdoor-data/agent/':
    'Data directory of an agent by default: its identity, its shares and its control socket.',
  '~/.config/frontdoor/profiles.json': 'Profiles, which "frontdoor login" saves.',
};

/** By the number, as text. */
export const EXIT_STATUSES: Readonly<Record<string, string>> = {
  0: 'The command succeeded; a program was stopped by a signal.',
  1: 'A check found a problem, or a program ended by a failure.',
  2: 'The command line, a file or a value is invalid.',
  3: 'Credentials are missing or wrong.',
  4: 'The caller may not do this.',
  5: 'There is no such object.',
  6: 'The state of the object does not permit this, or it was changed in the meantime.',
  7: 'There were too many requests.',
  8: 'A part could not be reached, or did not respond in time.',
  69: 'The installation is damaged, or not for this machine.',
  70: 'An internal error, which is a defect: please report it.',
};
