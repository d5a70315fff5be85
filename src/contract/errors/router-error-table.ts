/** Errors of routers: of their files, their links and the circuits that they carry. */
import { errorsSince } from '#base';

export const ROUTER_ERRORS = errorsSince('0.1.0', {
  'bad-dns-range': {
    kind: 'invalid',
    meaning: 'The range for the names of services has no usable addresses.',
    remedy: 'Set `dnsSvcIpRange` of the listener to a range of IPv4 addresses such as 100.64.0.1/10.',
  },
  'bad-host-name': {
    kind: 'invalid',
    meaning:
      'An address of a service is neither a host name nor `*.domain`, or the resolver cannot answer it.',
    remedy: 'Correct the addresses in the config `intercept.v1`. Wildcards need a resolver `udp://`.',
  },
  'bad-identity': {
    kind: 'invalid',
    meaning: 'The identity of the router cannot be used.',
    remedy: 'The message has the reason: certificate, key and authority must belong together.',
  },
  'bad-machine-record': {
    kind: 'unavailable',
    meaning: 'The file in which a router records its changes to the machine cannot be used.',
    remedy: 'See the reason in the message. The file is next to `edge.db` and ends in `.machine`.',
  },
  'bad-name-file': {
    kind: ['invalid', 'unavailable'],
    meaning: 'The file that keeps the addresses of names cannot be used.',
    remedy: 'See the reason in the message. Without the file, names get new addresses.',
  },
  'connection-closed': {
    kind: 'badGateway',
    meaning: 'The local end of a circuit closed while the circuit was being created.',
    remedy: 'No action is required if the client has disconnected; otherwise check the log of the service.',
  },
  'circuit-request-failed': {
    kind: ['timeout', 'unavailable'],
    meaning: 'A listener of the router could not get a circuit.',
    remedy: 'See the reason in the message, then the log of the control plane.',
  },
  'dial-not-permitted': {
    kind: 'forbidden',
    meaning: 'No service policy allows the identity of the router to dial the service.',
    remedy:
      'Add the identity and the service to a policy of type Dial, or remove the service from the listener.',
  },
  'dial-refused': {
    kind: 'badGateway',
    meaning: 'The program that hosts a service refused a circuit.',
    remedy: 'See the log of that program.',
  },
  'dns-range-exhausted': {
    kind: 'unavailable',
    meaning: 'All addresses for the names of services are in use.',
    remedy: 'Enlarge `dnsSvcIpRange` of the listener.',
  },
  'host-program-failed': {
    kind: 'unavailable',
    meaning: 'A program that sets addresses, routes or rules of the machine failed.',
    remedy: 'Read its message; it needs the privileges of mode tproxy, and support by the kernel.',
  },
  'host-without-key': {
    kind: 'badGateway',
    meaning: 'A service requires end-to-end encryption, and its host sent no usable key.',
    remedy: 'Host the service with a program that encrypts, or do not require encryption for it.',
  },
  'identity-inline': {
    kind: 'invalid',
    meaning: 'The identity is PEM in the configuration file, and new certificates need files of their own.',
    remedy: 'Put certificate and key into files and name them.',
  },
  'identity-exists': {
    kind: 'conflict',
    meaning: 'The files to enroll into belong to another router, or hold something else.',
    remedy: 'Name other files in the section identity, or replace them with --force.',
  },
  'identity-unwritable': {
    kind: 'invalid',
    meaning: 'Enrolling could not write its files; the token was not used.',
    remedy: 'Make the files that the message names writable, each under a name of its own, and enroll again.',
  },
  'dialer-without-key': {
    kind: 'invalid',
    meaning: 'The service is encrypted, and its dialer sent no usable key.',
    remedy: 'Dial with an SDK that encrypts, or switch off the encryption of the service.',
  },
  'link-address': {
    kind: 'invalid',
    meaning: 'The address of a link is invalid.',
    remedy: 'Correct the advertised address of the other router.',
  },
  'link-peer': {
    kind: 'forbidden',
    meaning: 'A different router than expected answered at the address of a link.',
    remedy: 'Correct the advertised address of the router that the message names.',
  },
  'metric-kind': {
    kind: 'internal',
    meaning: 'A metric was registered twice with different kinds.',
    remedy: 'Report it with the log.',
  },
  'net-admin-missing': {
    kind: 'forbidden',
    meaning:
      'Mode tproxy changes the routing of the machine, and the process lacks the capability CAP_NET_ADMIN.',
    remedy:
      'Run the router as root, or grant the capability as the message describes. Modes host and proxy do not need it.',
  },
  'no-controller': {
    kind: 'unavailable',
    meaning: 'The router is connected to no control plane.',
    remedy: 'Check that a control plane is running, and check "ctrl" in the configuration.',
  },
  'no-csr': {
    kind: 'invalid',
    meaning: 'The configuration has no csr section, which certificate requests need.',
    remedy: 'Add the section.',
  },
  'no-ip-program': {
    kind: 'unavailable',
    meaning: 'Mode tproxy needs the program `ip`.',
    remedy: 'Install iproute2.',
  },
  'no-names': {
    kind: 'invalid',
    meaning: 'The configuration has no name at which its listeners could be dialed.',
    remedy: 'Add names to edge.csr.sans.',
  },
  'no-packet-filter': {
    kind: 'unavailable',
    meaning: 'Mode tproxy needs nft or iptables, and the machine has neither.',
    remedy: 'Install nftables or iptables, or use mode proxy or host.',
  },
  'no-server-cert': {
    kind: 'invalid',
    meaning:
      'A router with link or edge listeners has no file for the server certificate that enrolling gives.',
    remedy: 'Name a file in identity.server_cert, and enroll again; the token was not used.',
  },
  'no-transparent-sockets': {
    kind: 'unavailable',
    meaning: 'The system refused a socket for addresses that are not its own.',
    remedy: 'Use Linux on a 64-bit machine, with the capability CAP_NET_ADMIN and TPROXY in the kernel.',
  },
  'not-intercepted': {
    kind: 'notFound',
    meaning: 'A connection was made to an address and port that belong to no service.',
    remedy: 'Compare the addresses and ports of the config `intercept.v1`, and which clients it allows.',
  },
  'renewal-invalid': {
    kind: 'badGateway',
    meaning: 'The controller sent certificates that cannot be used.',
    remedy: 'See the reason in the message, then the log of the control plane.',
  },
  'renewal-refused': {
    kind: 'badGateway',
    meaning: 'The controller refused to renew the certificate of the router.',
    remedy: 'See the reason in the message; enroll the router again if its certificate has expired.',
  },
  'too-many-circuits': {
    kind: 'limited',
    meaning: 'The router has reached its limit of circuits.',
    remedy: 'Add a router, or raise the limit in the configuration.',
  },
  'too-many-connections': {
    kind: 'limited',
    meaning: 'A client has reached its limit of connections.',
    remedy: 'Close connections that are not used, or spread them over several identities.',
  },
  'too-many-sessions': {
    kind: 'protocol',
    meaning: 'The list of sessions from the controller does not end.',
    remedy: 'Use compatible versions of both programs; if they do, report it.',
  },
  'trace-file': {
    kind: 'invalid',
    meaning: 'The trace file cannot be written.',
    remedy: 'Create its directory, and give the router permission to write there.',
  },
  'unknown-api': {
    kind: 'invalid',
    meaning: 'The configuration names an API that routers do not have.',
    remedy: 'Use the name that the message gives.',
  },
  'unknown-end': {
    kind: 'notFound',
    meaning: 'A route names an end that the router does not have.',
    remedy: 'No action is required if it happens once: the controller creates a new route.',
  },
  'unknown-interface': {
    kind: 'invalid',
    meaning: 'The machine has no network interface of the name in `lanIf`.',
    remedy: 'Choose one of the interfaces that the message lists.',
  },
  'unknown-link': {
    kind: 'notFound',
    meaning: 'A route names a link that the router does not have.',
    remedy: 'No action is required if it happens once: the controller creates a new route.',
  },
  'no-data-model': {
    kind: 'unavailable',
    meaning: 'The router has not received its list of hosted services yet.',
    remedy: 'Wait until it has reached a controller.',
  },
  'unknown-terminator': {
    kind: 'notFound',
    meaning: 'A circuit leads to a terminator that is no longer hosted here.',
    remedy: 'Check that the program that hosts the service is connected.',
  },
  'unsupported-address': {
    kind: 'invalid',
    meaning: 'A listener has an address of a type that this version cannot listen on.',
    remedy: 'Use the types of the reference of the configuration.',
  },
});
