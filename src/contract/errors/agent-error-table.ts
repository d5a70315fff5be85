/** Errors of agents: of their data directory, their control socket and their shares. */
import { errorsSince } from '#base';
import { targetForms } from '#domain';

export const AGENT_ERRORS = errorsSince('0.1.0', {
  'access-unknown': {
    kind: 'notFound',
    meaning: 'The agent has no access to a private share of this name.',
    remedy: 'List the accesses with `frontdoor agent status`.',
  },
  'agent-running': {
    kind: 'conflict',
    meaning: 'An agent is already running on the data directory.',
    remedy: 'Stop it first, or use a different --data-dir for this agent.',
  },
  'share-name': {
    kind: 'invalid',
    meaning: 'A text cannot be the name of a share.',
    remedy:
      'Choose a name of 1 to 63 letters a to z, digits and inner hyphens, other than `oauth`, `api` and `www`.',
  },
  'unknown-share': {
    kind: 'notFound',
    meaning: 'The agent has no share of that name.',
    remedy: 'List its shares with `frontdoor agent status`.',
  },
  'identity-refused': {
    kind: ['unauthenticated', 'forbidden'],
    meaning: 'The control plane refuses the identity of a tunnel.',
    remedy: 'Enroll the identity again, or let an administrator enable it; then start the tunnel.',
  },
  'identity-unnamed': {
    kind: 'invalid',
    meaning: 'The certificate of the agent has no common name.',
    remedy: 'Enroll the agent again.',
  },
  'invalid-target': {
    kind: 'invalid',
    meaning: 'The target of a share is not an address that an agent connects to.',
    remedy: `Give ${targetForms()}, without credentials.`,
  },
  'invalid-upstream': {
    kind: 'invalid',
    meaning: 'A setting of how requests of a share reach its service is not valid.',
    remedy: 'Give the setting in the form that the message names.',
  },
  'lock-busy': {
    kind: 'conflict',
    meaning: 'Several agents are starting on the data directory at the same time.',
    remedy: 'Start only one of them.',
  },
  'lock-of-newer-format': {
    kind: 'conflict',
    meaning: 'A newer version of the agent wrote the lock file of the data directory.',
    remedy: 'Start that version, or stop the agent that is running on the data directory.',
  },
  'no-start-time': {
    kind: 'internal',
    meaning: 'The start time of the process cannot be read.',
    remedy: 'Report it with the name of the operating system.',
  },
  'not-enrolled': {
    kind: 'unauthenticated',
    meaning: 'The agent has no identity yet.',
    remedy:
      'Get a code with "frontdoor agents enroll", and give it by FRONTDOOR_ENROLLMENT_TOKEN or --enrollment-token-file.',
  },
  'request-too-large': {
    kind: 'tooLarge',
    meaning: 'A request at the control socket is too long, or too many wait.',
    remedy: 'Send fewer or smaller requests at a time.',
  },
  'socket-in-use': {
    kind: 'conflict',
    meaning: 'Another program listens on the path of the control socket.',
    remedy: 'Choose another with --socket.',
  },
  'socket-listen': {
    kind: 'unavailable',
    meaning: 'The control socket cannot be opened.',
    remedy: 'The message has the cause: its folder must exist and be writable.',
  },
  'socket-path-taken': {
    kind: 'conflict',
    meaning: 'The path of the control socket is a file of another kind.',
    remedy: 'Choose another with --socket.',
  },
  stopping: {
    kind: 'unavailable',
    meaning: 'The agent is stopping.',
    remedy: 'Start the agent, then try again.',
  },
  'too-many-accesses': {
    kind: 'limited',
    meaning: 'The agent has reached its limit of accesses to private shares.',
    remedy: 'End one with `frontdoor agent access end`, or start another agent.',
  },
  'too-many-changes': {
    kind: 'limited',
    meaning: 'Too many changes of shares are pending.',
    remedy: 'Try again.',
  },
  'wrong-protocol': {
    kind: 'invalid',
    meaning: 'A datagram share was opened for connections, or vice versa.',
    remedy: 'Use `--udp` if, and only if, its target is `udp://HOST:PORT`.',
  },
});
