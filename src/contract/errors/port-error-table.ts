/** Errors of the control plane about the ports of public shares that do not speak HTTP. */
import { errorsSince } from '#base';

export const PORT_ERRORS = errorsSince('0.1.0', {
  'no-ingress-ports': {
    kind: 'conflict',
    meaning: 'No gateway opens ports for shares that do not speak HTTP.',
    remedy:
      'Start the gateways with a range of ports, such as --tcp-ports 20000-20099 or --udp-ports 20000-20099.',
  },
  'no-ingress-port-left': {
    kind: 'conflict',
    meaning: 'All ports that gateways open for shares belong to shares.',
    remedy:
      'Delete a share that has a port, or start the gateways with a larger range in --tcp-ports or --udp-ports.',
  },
  'ingress-ports-of-organization': {
    kind: 'conflict',
    meaning:
      'The organization has as many ports as one of several organizations may have: half of those that gateways open, or ten.',
    remedy:
      'Delete a share that has a port, or start the gateways with a larger range in --tcp-ports or --udp-ports.',
  },
  'ingress-port-taken': {
    kind: 'conflict',
    meaning:
      'The port belongs to another share, or belonged to a share of another organization in the last 30 days.',
    remedy: 'Choose another port, or none to get a free one.',
  },
  'port-needs-no-sign-in': {
    kind: 'conflict',
    meaning:
      'A public share that does not speak HTTP would have auth providers or rules about callers, which nobody can satisfy there.',
    remedy:
      'Restrict the share by addresses (ipAllow, ipDeny), or make it private and grant it to environments.',
  },
});
