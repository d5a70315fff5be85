/**
 * Why a program of the library got no circuit, or lost one. Visitors of public shares meet the same codes in
 * `visitor-error-table.ts`, in the words of the gateway.
 */
import { errorsSince } from '#base';

export const CIRCUIT_ERRORS = errorsSince('0.1.0', {
  'channel-closed': {
    kind: 'unavailable',
    meaning: 'The channel to the router was closed before the circuit was established, or together with it.',
    remedy:
      'Dial again: the channel is reopened automatically. If it happens often, check the log of the router.',
  },
  'circuit-closed': {
    kind: 'unavailable',
    meaning: 'The circuit was closed before both directions had finished.',
    remedy: 'Dial again. The message names the end that closed it; check its log.',
  },
  'control-away': {
    kind: 'unavailable',
    meaning: 'No control plane responds, and only a control plane creates circuits.',
    remedy: 'Check that a control plane is running and that the routers can reach it, then dial again.',
  },
  'no-terminator': {
    kind: 'unavailable',
    meaning: 'No host of the service is currently connected, or none with the address of the dial.',
    remedy: 'Start a host of the service, or compare the address with those of `terminators`.',
  },
  'not-authorized': {
    kind: 'forbidden',
    meaning: 'This identity is not allowed to dial the service, or the service has been deleted.',
    remedy: 'Check the permissions of the identity, such as the grants of a private share.',
  },
  overlay: {
    kind: 'badGateway',
    meaning: 'The overlay could not create a circuit.',
    remedy: 'See the message and the log of the router and the control plane.',
  },
  'service-refused': {
    kind: 'badGateway',
    meaning: 'The host could not reach the private service, or refused the circuit.',
    remedy: 'Start the service, or see the message for the reason.',
  },
  'service-timeout': {
    kind: 'timeout',
    meaning: 'The private service did not respond to its host in time.',
    remedy: 'Check that the service is running and is not overloaded.',
  },
  timeout: {
    kind: 'timeout',
    meaning: 'No circuit was created before the dial timed out.',
    remedy: 'Check that a router is reachable, then dial again.',
  },
});
