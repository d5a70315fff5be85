/** Messages about circuits. */
export { CIRCUIT_ID_CHARACTERS } from './circuit-id-codec.ts';
export {
  decodeCircuitAnswer,
  encodeCircuitFailed,
  encodeCircuitSuccess,
  type CircuitGranted,
} from './circuit-request-codec.ts';
export {
  decodeCircuitCreated,
  decodeCreateCircuitV2,
  decodeCreateCircuitV3,
  decodeEdgeRefusal,
  decodeRouteResult,
  EdgeErrorCode,
  encodeCircuitCreated,
  encodeCreateCircuitV2,
  encodeEdgeRefusal,
  encodeRouteResult,
  peerDataEntries,
  peerDataOfEntries,
  RetryHint,
  RouteErrorCode,
  type CircuitCreated,
  type CircuitRequestV2,
  type CircuitRequestV3,
  type EdgeRefusal,
  type PeerData,
  type PeerDataEntry,
  type RouteResult,
} from './ctrl-messages-circuit.ts';
