/**
 * Why a program of the library got no circuit, or lost one. Visitors of public shares meet the same codes in
 * `visitor-error-table.ts`, in the words of the gateway.
 */
import { errorsSince } from '#base';

export const CIRCUIT_ERRORS = errorsSince('0.1.0', {
  'channel-closed': {
    kind: 'unavailable',
    meaning: 'The channel to the router ended before the circuit was made, or with it.',
    remedy:
      'Dial again: the channel is opened again by itself. If it happens often, see the log of the router.',
  },
  'circuit-closed': {
    kind: 'unavailable',
    meaning: 'The circuit broke before both directions had ended.',
    remedy: 'Dial again. The message names the end that broke it; see the log there.',
  },
  'control-away': {
    kind: 'unavailable',
    meaning: 'No control plane responds, and only a control plane makes circuits.',
    remedy: 'Check that a control plane runs and that the routers reach it, then dial again.',
  },
  'no-terminator': {
    kind: 'unavailable',
    meaning: 'No host of the service is connected at the moment, or none with the address of the dial.',
    remedy: 'Start a host of the service, or compare the address with those of `terminators`.',
  },
  'not-authorized': {
    kind: 'forbidden',
    meaning: 'This identity may not dial the service, or the service was deleted.',
    remedy: 'Compare the permissions of the identity, such as the grants of a private share.',
  },
  overlay: {
    kind: 'badGateway',
    meaning: 'The overlay could not make a circuit.',
    remedy: 'Read the message, and see the log of the router and the control plane.',
  },
  'service-refused': {
    kind: 'badGateway',
    meaning: 'The host could not reach the private service, or refused the circuit.',
    remedy: 'Start the service, or read the message for the reason of the host.',
  },
  'service-timeout': {
    kind: 'timeout',
    meaning: 'The private service did not respond to its host in time.',
    remedy: 'See whether the service runs and is not overloaded.',
  },
  timeout: {
    kind: 'timeout',
    meaning: 'No circuit was made within the time of the dial.',
    remedy: 'See whether a router is reachable, then dial again.',
  },
});
