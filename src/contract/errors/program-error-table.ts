/** Errors of programs that start: of their options, workers and the demo. */
import { errorsSince } from '#base';

export const PROGRAM_ERRORS = errorsSince('0.1.0', {
  'demo-enrollment': {
    kind: 'internal',
    meaning: 'The demo did not receive an enrollment code.',
    remedy: 'See the log of the demo in its data directory.',
  },
  'demo-gateway': {
    kind: 'timeout',
    meaning: 'The gateway of the demo does not serve the sample.',
    remedy: 'See the logs of the demo in its data directory.',
  },
  'demo-share': {
    kind: 'timeout',
    meaning: 'The agent of the demo did not publish the sample in time.',
    remedy: 'See the log of the agent that the message names.',
  },
  'dns-server-option': {
    kind: 'invalid',
    meaning: 'An entry of --dns-server is not an address of a name server.',
    remedy:
      'Write each entry as an address, with a port if it is not 53, such as 192.0.2.53 or [2001:db8::53]:53.',
  },
  'one-port-names': {
    kind: 'invalid',
    meaning: 'With --one-port, the Management API has no name of its own.',
    remedy:
      'Give a certificate with --api-cert whose name differs from those of --advertise, such as console.example.com.',
  },
  'one-port-unknown': {
    kind: 'invalid',
    meaning: 'With --one-port, the port has to be the same at each start.',
    remedy: 'Choose it with --https-port, such as 443.',
  },
  'gateway-not-enrolled': {
    kind: 'invalid',
    meaning: 'The gateway has no identity yet.',
    remedy: 'Give --enrollment-jwt; "frontdoor fabric gateway create" creates one.',
  },
  'sample-failed': {
    kind: 'internal',
    meaning: 'The sample service of the demo did not start.',
    remedy: 'See the cause in the message.',
  },
  unreadable: {
    kind: 'invalid',
    meaning: 'A file given with an option cannot be read.',
    remedy: 'Check the path, and that this user can read the file.',
  },
  'service-configured': {
    kind: 'conflict',
    meaning: 'The service has a configuration file already, which options would change.',
    remedy: 'Edit the file that the message names, or remove the service first.',
  },
  'service-manager': {
    kind: 'unavailable',
    meaning: 'The service manager of the machine is missing, or one of its commands failed.',
    remedy: 'See the reason in the message. Without systemd and launchd, start the agent in another way.',
  },
  'service-missing': {
    kind: 'notFound',
    meaning: 'The service is not installed on this machine.',
    remedy: 'Check its name, which --instance gives; "frontdoor service install agent" installs it.',
  },
  'service-needs-root': {
    kind: 'forbidden',
    meaning: 'The command changes services of the machine, which root may do.',
    remedy: 'Run it with sudo.',
  },
  'service-not-started': {
    kind: 'unavailable',
    meaning: 'The service was installed, and its program did not become ready.',
    remedy: 'See its log with the command in the message.',
  },
  'service-program': {
    kind: 'notFound',
    meaning: 'The program that the service would start was not found.',
    remedy: 'Install Frontdoor as root with install.sh, or name the program with --program.',
  },
  'service-program-place': {
    kind: 'invalid',
    meaning: 'The program is in a folder that services cannot read, or its path would have to be quoted.',
    remedy: 'Install Frontdoor below /usr/local or /opt.',
  },
  'worker-failed': {
    kind: 'unavailable',
    meaning: 'A worker of the gateway did not start.',
    remedy: 'See the reason in the message, then the log.',
  },
  'workers-not-here': {
    kind: 'invalid',
    meaning: 'Several workers are supported only on Linux.',
    remedy: 'Omit --workers, or run the gateway on Linux.',
  },
});
