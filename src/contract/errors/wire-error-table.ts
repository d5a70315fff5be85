/** Errors of messages that cannot be read, or that refuse. */
import { errorsSince } from '#base';

export const WIRE_ERRORS = errorsSince('0.1.0', {
  'circuit-refused': {
    kind: 'badGateway',
    meaning: 'The controller refused a circuit that a router requested.',
    remedy: 'See the reason in the message, then the log of the control plane.',
  },
  'malformed-body': {
    kind: 'protocol',
    meaning: 'A peer sent a message whose body does not match its type.',
    remedy: 'Use compatible versions of both programs; if they do, report it with the logs of both programs.',
  },
  'malformed-headers': {
    kind: 'protocol',
    meaning: 'A peer sent a message whose headers are missing or cannot be read.',
    remedy: 'Use compatible versions of both programs; if they do, report it with the logs of both programs.',
  },
});
