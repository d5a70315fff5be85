/** Sends an SDK's Connect to the controllers, which authorize the dial and know where the service is hosted. */
import { contentType, headerId, textOfBody, type Frame } from '#wire';
import {
  decodeCircuitCreated,
  decodeEdgeRefusal,
  EdgeErrorCode,
  encodeCreateCircuitV2,
  type CircuitCreated,
} from '#wire/circuits';
import type { KnownApiSession } from '../ctrl/api-session-registry.ts';
import { dialerData } from './dial-frame.ts';
import type { EdgePeerContext } from './edge-peer-context.ts';
import { CircuitRefusal } from '../forwarder/dial-refusal.ts';

export interface AskedCircuit {
  /** The SDK's Connect frame. */
  readonly frame: Frame;
  readonly session: KnownApiSession;
  /** Fingerprint of the SDK's certificate. */
  readonly fingerprint: string;
}

/** Rejects with a `CircuitRefusal`, or like `CircuitAsker.ask`. */
export async function requestCircuit(
  { frame, session, fingerprint }: AskedCircuit,
  { asker, reportFault, xgress }: Pick<EdgePeerContext, 'asker' | 'reportFault' | 'xgress'>,
): Promise<{ readonly created: CircuitCreated; readonly controllerId: string }> {
  const question = encodeCreateCircuitV2({
    sessionToken: textOfBody(frame),
    apiSessionToken: session.token,
    fingerprints: [fingerprint],
    terminatorInstanceId: frame.headers.text(headerId.edge.terminatorIdentity) ?? '',
    peerData: dialerData(frame, session.identityId),
  });
  const { answer, controller } = await asker.ask({
    frame: question,
    timeoutMs: xgress.getCircuitTimeoutMs,
    mayKnowBetter: isNoWay,
    onUnused: ({ answer: late, controller: { id } }) => {
      if (isGrant(late)) reportFault(decodeCircuitCreated(late).circuitId, id, false);
    },
  });
  if (!isGrant(answer)) throw new CircuitRefusal(answer);
  return { created: decodeCircuitCreated(answer), controllerId: controller.id };
}

/** True if the controller does not know the host, or a path to it: another controller may. */
function isNoWay(answer: Frame): boolean {
  return !isGrant(answer) && decodeEdgeRefusal(answer).code === EdgeErrorCode.invalidTerminator;
}

function isGrant(answer: Frame): boolean {
  return answer.contentType === contentType.createCircuitV2Response;
}
