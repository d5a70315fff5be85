/** Errors of listeners, channels, files of identities, and requests to other servers. */
import { errorsSince } from '#base';

export const NET_ERRORS = errorsSince('0.1.0', {
  'body-timeout': {
    kind: 'requestTimeout',
    meaning: 'The body of a request did not arrive in time.',
    remedy: 'Send the request again over a faster connection.',
  },
  'cannot-listen': {
    kind: 'unavailable',
    meaning: 'A listen address cannot be opened.',
    remedy:
      'The message has the cause: the address must exist on this machine, and ports below 1024 require the privilege to use them.',
  },
  'certificate-key-mismatch': {
    kind: 'invalid',
    meaning: 'A server certificate and its key do not belong together.',
    remedy: 'Restore the key that belongs to the certificate.',
  },
  'channel-failed': {
    kind: 'unavailable',
    meaning: 'The connection to another program of the installation could not be established.',
    remedy:
      'Check that the program is running, and that its address and port can be reached from this machine.',
  },
  'channel-refused': {
    kind: 'forbidden',
    meaning: 'The other program refused the channel, because of the certificate, the identity or a limit.',
    remedy: 'See the reason in the message; if it is the certificate, enroll this program again.',
  },
  'channel-timeout': {
    kind: 'timeout',
    meaning: 'The other program did not respond to the start of a channel in time.',
    remedy: 'Check whether the program is overloaded, or a firewall drops the connection.',
  },
  'directory-in-use': {
    kind: 'conflict',
    meaning: 'Another frontdoor runs on the data directory.',
    remedy: 'Stop the process that the message names, or choose another directory with --data-dir.',
  },
  'config-unreadable': {
    kind: ['invalid', 'notFound'],
    meaning: 'A configuration file cannot be read.',
    remedy: 'Check the path, and that this user can read the file.',
  },
  'file-writable-by-others': {
    kind: 'forbidden',
    meaning: 'Other users can write a file that decides what a program of Frontdoor does.',
    remedy: 'Run the chmod that the message shows.',
  },
  'connection-refused': {
    kind: 'badGateway',
    meaning: 'The service of a terminator refuses connections.',
    remedy: 'Start the service, or change the address of the terminator.',
  },
  'dial-failed': {
    kind: 'badGateway',
    meaning: 'The host cannot connect to the service of a terminator.',
    remedy: 'See the cause in the message.',
  },
  'dial-timeout': {
    kind: 'timeout',
    meaning: 'The destination of a circuit did not answer in time.',
    remedy: 'Check that the service is running and is not overloaded.',
  },
  'egress-refused': {
    kind: 'forbidden',
    meaning:
      'An address is not fetched, because it leads into a network that is closed to requests of the control plane.',
    remedy: 'Allow it with --allow-egress if it is meant.',
  },
  'egress-url': {
    kind: 'invalid',
    meaning: 'The address to fetch is not supported.',
    remedy: 'Give an https address with a host name.',
  },
  'identity-file-damaged': {
    kind: 'invalid',
    meaning: 'The identity file is empty or cut, or its parts do not belong together.',
    remedy: 'Restore it from a backup, or move it away and enroll again.',
  },
  'identity-file-missing': {
    kind: 'notFound',
    meaning: 'There is no identity file at the path.',
    remedy: 'Enroll the program, or name the file that was written when it was enrolled.',
  },
  'identity-file-refused': {
    kind: 'invalid',
    meaning: 'The identity file cannot be used: its form, its rights or its content is wrong.',
    remedy: 'See the reason in the message, which names the command that repairs it, if there is one.',
  },
  'identity-out-of-date': {
    kind: 'invalid',
    meaning: 'The certificate of an identity is not valid now.',
    remedy: 'Compare the times that the message names: set the clock if it is wrong, or enroll again.',
  },
  'name-not-found': {
    kind: 'badGateway',
    meaning: 'The host name of a terminator has no address.',
    remedy: 'Correct the name, or see whether its machine resolves names.',
  },
  'no-address': {
    kind: 'unavailable',
    meaning: 'The name of a server has no address.',
    remedy: 'Compare the host name, and see whether this machine resolves names.',
  },
  'no-certificate': {
    kind: 'invalid',
    meaning: 'A file that should hold certificates holds none.',
    remedy: 'Name a PEM file with at least one certificate.',
  },
  'no-connection-types': {
    kind: 'internal',
    meaning: 'A channel was requested without any connection.',
    remedy: 'Report it with the log.',
  },
  'no-sockets': {
    kind: 'limited',
    meaning: 'The host has no sockets left for another connection.',
    remedy: 'Raise the limit of open files of the process.',
  },
  'port-taken': {
    kind: 'conflict',
    meaning: 'Another program listens on the port already.',
    remedy: 'End that program or choose another port.',
  },
  'protocol-taken': {
    kind: 'conflict',
    meaning: 'Two listeners of one address take the same protocol.',
    remedy: 'Give one of the listeners another port.',
  },
  'proxy-failed': {
    kind: 'unavailable',
    meaning: 'The proxy did not connect to the server.',
    remedy:
      'The message names the step: correct address, user or password of the proxy, or let it connect to the server.',
  },
  'proxy-url': {
    kind: 'invalid',
    meaning: 'The proxy of an option or a variable is not one that can be used.',
    remedy:
      'Give its URL with host and port, such as http://proxy.example:3128, and percent-encode the password.',
  },
  'server-silent': {
    kind: 'timeout',
    meaning: 'A server did not answer an HTTP request in time.',
    remedy: 'See whether the server runs and is not overloaded, then try again.',
  },
  'socket-path': {
    kind: 'invalid',
    meaning: 'The path of the control socket cannot be used on this system.',
    remedy: 'Choose a shorter one with --socket.',
  },
  'too-many-lookups': {
    kind: 'limited',
    meaning: 'The host resolves too many names of hosted services at once.',
    remedy: 'Check why the name servers of its machine do not respond.',
  },
  'tls-files': {
    kind: 'invalid',
    meaning: 'A certificate or its key cannot be used.',
    remedy: 'Name a certificate and the key that belongs to it, both readable by this user.',
  },
  'too-large': {
    kind: 'tooLarge',
    meaning: 'The sent data is larger than the limit in the message.',
    remedy: 'Send less.',
  },
  'too-many-bodies': {
    kind: 'unavailable',
    meaning: 'Too many bodies arrive at one time.',
    remedy: 'Send the request again after the seconds of Retry-After.',
  },
  unreachable: {
    kind: 'unavailable',
    meaning: 'A server cannot be reached.',
    remedy: 'Check the address, and that the server is running and can be reached from this machine.',
  },
  unrouted: {
    kind: 'conflict',
    meaning: 'The circuit was removed while it was being created.',
    remedy: 'Nothing: the party that requested it tries again.',
  },
});
